#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>

#include "engine/policy.h"
#include "engine/policy_lint.h"
#include "engine/redact.h"
#include "server/cli/input.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/policy_commands.h"
#include "server/json_out.h"
#include "server/store/config.h"
#include "server/store/policy_yaml.h"

// escrow policy check [FILE…]: every problem of a policy file, with its place. Reads only what it is given, so that a
// broken policy in force does not stand in the way of mending it.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

struct CheckOptions {
  OutputOptions output;
  std::vector<std::string> files;
  std::string layer;
};

struct Checked {
  std::string file;
  ParsedPolicy parsed;
  std::vector<std::string> notes;               ///< loosenings that the layer may not make
  std::vector<engine::PolicyWarning> warnings;  ///< valid, and hardly meant
};

enum class Named { in_force, by_person };

struct Candidate {
  std::string file;
  engine::LayerKind kind;
  Named named = Named::by_person;
};

/// As it is read when it is in force; a workspace's also when it is named, so that a link is never followed unseen.
Result<std::string> text_of(const Candidate& one) {
  const bool stdin_or_other = one.file == "-" || one.file.empty() || one.kind != engine::LayerKind::workspace;
  if (one.named == Named::by_person && stdin_or_other) return read_input(one.file);
  const auto text = read_policy_text(one.file, one.kind);
  if (!text) return text.error();
  if (!*text) return Error{ErrorKind::not_found, one.file + ": No such file or directory"};
  return **text;
}

Result<Checked> check_file(const Candidate& one) {
  const auto text = text_of(one);
  if (!text) return text.error();
  Checked out{input_name(one.file), parse_policy(*text, input_name(one.file), one.kind), {}, {}};
  if (!out.parsed.problems.empty()) return out;
  out.notes = engine::merge_layers({out.parsed.layer}).notes;
  out.warnings = engine::lint_layer(out.parsed.layer);
  return out;
}

/// The files that are in force here, if they exist.
Result<std::vector<Candidate>> files_in_force() {
  const auto root = workspace_root_around(".");
  if (!root) return root.error();
  const auto places = find_places(process_environment(), Overrides::honour, {*root});
  if (!places) return places.error();
  std::vector<Candidate> found;
  for (const auto& one : {Candidate{user_policy_file(*places), engine::LayerKind::user, Named::in_force},
                          Candidate{workspace_policy_file(*root), engine::LayerKind::workspace, Named::in_force},
                          Candidate{places->system_policy, engine::LayerKind::system, Named::in_force}}) {
    struct stat status {};
    if (::lstat(one.file.c_str(), &status) == 0) found.push_back(one);
  }
  return found;
}

engine::LayerKind kind_of(const std::string& file, const std::string& layer) {
  if (const auto kind = engine::parse_enum<engine::LayerKind>(layer)) return *kind;
  const bool in_workspace = file == ".escrow/policy.yaml" || file.ends_with("/.escrow/policy.yaml");
  return in_workspace ? engine::LayerKind::workspace : engine::LayerKind::user;
}

json::object json_checked(const Checked& checked) {
  json::array problems;
  for (const auto& problem : checked.parsed.problems) {
    problems.emplace_back(
        json::object{{"line", problem.line}, {"column", problem.column}, {"message", json_text(problem.message)}});
  }
  json::object out;
  out["file"] = json_text(checked.file);
  out["layer"] = engine::name_of(checked.parsed.layer.kind);
  out["ok"] = checked.parsed.problems.empty();
  out["problems"] = std::move(problems);
  out["notes"] = json_texts(checked.notes);
  json::array warnings;
  for (const auto& warning : checked.warnings)
    warnings.emplace_back(json::object{{"line", warning.line}, {"message", json_text(warning.message)}});
  out["warnings"] = std::move(warnings);
  return out;
}

void print_text(const Checked& checked, const Style& style) {
  for (const auto& problem : checked.parsed.problems) put(to_text(problem, checked.file) + "\n");
  const auto warning = style.paint(Tone::yellow, "warning: ");
  for (const auto& note : checked.notes) put(warning + engine::one_line(note, 400) + "\n");
  for (const auto& one : checked.warnings)
    put(checked.file + ":" + std::to_string(one.line) + ": " + warning + engine::one_line(one.message, 400) + "\n");
  if (!checked.parsed.problems.empty()) return;
  const auto& layer = checked.parsed.layer;
  put(checked.file + ": " + style.paint(Tone::green, "ok") + ", " + std::string(engine::name_of(layer.kind)) +
      " layer, " + counted(layer.rules.size(), "rule") + ", " + counted(layer.own_rules.size(), "diff rule") + "\n");
}

int run_check(const CheckOptions& options) {
  std::vector<Candidate> files;
  for (const auto& file : options.files) files.push_back({file, kind_of(file, options.layer), Named::by_person});
  if (files.empty()) {
    const auto found = files_in_force();
    if (!found) return fail(found.error().message);
    files = *found;
  }
  const auto style = options.output.style();
  json::array all;
  bool ok = true;
  for (const auto& candidate : files) {
    const auto checked = check_file(candidate);
    if (!checked) return fail(checked.error().message);
    ok = ok && checked->parsed.problems.empty();
    if (options.output.as_json()) {
      all.emplace_back(json_checked(*checked));
    } else {
      print_text(*checked, style);
    }
  }
  if (options.output.as_json()) put_json(json::object{{"ok", ok}, {"files", std::move(all)}});
  if (files.empty() && !options.output.as_json()) put("no policy file: the built-in policy holds\n");
  return ok ? kOk : kFlagged;
}

}  // namespace

void add_policy_check(CommandTree& tree, CLI::App& group) {
  auto options = std::make_shared<CheckOptions>();
  auto* app = group.add_subcommand("check", "Validate policy files (those in force here, if none is named)");
  app->add_option("files", options->files, "the files; - is stdin")->option_text("FILE");
  add_choice(*app, "--layer", options->layer, {"user", "workspace", "system"},
             "check as this layer (workspace for .escrow/policy.yaml, else user)");
  add_output_options(*app, options->output);
  tree.commands.push_back({"policy check", app, [options] { return run_check(*options); }});
}

}  // namespace escrow::server::cli

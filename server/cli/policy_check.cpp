#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>

#include "engine/policy.h"
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
  std::vector<std::string> notes;  ///< loosenings that the layer may not make
};

Result<Checked> check_file(const std::string& file, engine::LayerKind kind) {
  const auto text = read_input(file);
  if (!text) return text.error();
  Checked out{input_name(file), parse_policy(*text, input_name(file), kind), {}};
  if (out.parsed.problems.empty()) out.notes = engine::merge_layers({out.parsed.layer}).notes;
  return out;
}

struct Candidate {
  std::string file;
  engine::LayerKind kind;
};

/// The files that are in force here, if they exist.
Result<std::vector<Candidate>> files_in_force() {
  const auto root = workspace_root_around(".");
  if (!root) return root.error();
  const auto places = find_places(process_environment(), Overrides::honour, {*root});
  if (!places) return places.error();
  std::vector<Candidate> found;
  for (const auto& one : {Candidate{user_policy_file(*places), engine::LayerKind::user},
                          Candidate{workspace_policy_file(*root), engine::LayerKind::workspace},
                          Candidate{places->system_policy, engine::LayerKind::system}}) {
    if (::access(one.file.c_str(), F_OK) == 0) found.push_back(one);
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
  return out;
}

void print_text(const Checked& checked, const Style& style) {
  for (const auto& problem : checked.parsed.problems) put(to_text(problem, checked.file) + "\n");
  for (const auto& note : checked.notes) put(checked.file + ": " + style.paint(Tone::yellow, "note: ") + note + "\n");
  if (!checked.parsed.problems.empty()) return;
  const auto& layer = checked.parsed.layer;
  put(checked.file + ": " + style.paint(Tone::green, "ok") + ", " + std::string(engine::name_of(layer.kind)) +
      " layer, " + counted(layer.rules.size(), "rule") + ", " + counted(layer.own_rules.size(), "diff rule") + "\n");
}

int run_check(const CheckOptions& options) {
  std::vector<Candidate> files;
  for (const auto& file : options.files) files.push_back({file, kind_of(file, options.layer)});
  if (files.empty()) {
    const auto found = files_in_force();
    if (!found) return fail(found.error().message);
    files = *found;
  }
  const auto style = options.output.style();
  json::array all;
  bool ok = true;
  for (const auto& [file, kind] : files) {
    const auto checked = check_file(file, kind);
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

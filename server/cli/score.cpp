#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>

#include "engine/evaluate.h"
#include "engine/redact.h"
#include "server/cli/command.h"
#include "server/cli/input.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/sarif.h"
#include "server/cli/side_by_side.h"
#include "server/cli/workplace.h"
#include "server/json_out.h"

// escrow score [FILE]: the judgement of a unified diff. The text form is one finding a line in the way of compilers
// (path:line: severity: message), so that editors and terminals jump to it, and the verdict last.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

struct ScoreOptions {
  OutputOptions output;
  std::string file;
  std::optional<double> confidence;
  std::string fail_on;
};

struct Scored {
  engine::ParsedPatch change;
  engine::PatchEvaluation verdict;
};

json::array json_issues(const std::vector<engine::ParseIssue>& issues) {
  json::array out;
  for (const auto& issue : issues) {
    out.emplace_back(json::object{{"line", issue.line}, {"message", json_text(issue.message)}});
  }
  return out;
}

void print_json(const Scored& scored) {
  const auto& [change, verdict] = scored;
  json::object out;
  out["score"] = verdict.risk.score;
  out["lane"] = engine::name_of(verdict.lane);
  out["level"] = engine::name_of(verdict.risk.level);
  out["signals"] = json_signals(verdict.risk.signals);
  json::array files;
  for (const auto& file : change.patch.files) files.emplace_back(json_file(file));
  out["files"] = std::move(files);
  out["explain"] = json_explain(verdict.risk.explain);
  out["notes"] = json_texts(verdict.notes);
  if (!change.issues.empty()) out["issues"] = json_issues(change.issues);
  put_json(out);
}

std::string place_of(const engine::Signal& signal) {
  auto place = engine::one_line(signal.file, 4096);
  if (signal.line != 0) place += ":" + std::to_string(signal.line);
  return place;
}

std::string finding_line(const engine::Signal& signal, const Style& style) {
  auto line = style.bold(place_of(signal)) + ": " + style.name(signal.severity) + ": ";
  line += engine::one_line(signal.message) + " " + style.dim("[" + signal.rule + "]");
  return line + "\n";
}

std::string how_it_adds_up(const engine::Risk& risk) {
  std::string parts;
  for (const auto& part : risk.explain) {
    parts += (parts.empty() ? "" : " + ") + std::to_string(part.points) + " " + part.rule;
  }
  return parts;
}

std::string what_happens(engine::Lane lane, const engine::Policy& policy) {
  const auto band = policy.risk_bands.find(std::string(engine::name_of(lane)));
  const bool person = lane == engine::Lane::high || (band != policy.risk_bands.end() && band->second.human_review);
  if (person) return "waits for a person";
  return lane == engine::Lane::medium ? "applies after the deep checks" : "applies by itself";
}

std::string size_of(const engine::Patch& patch) {
  engine::LineCounts total;
  for (const auto& file : patch.files) {
    const auto counts = engine::count_lines(file);
    total.added += counts.added;
    total.removed += counts.removed;
  }
  return counted(patch.files.size(), "file") + ", +" + std::to_string(total.added) + " -" +
         std::to_string(total.removed);
}

void print_text(const Scored& scored, const ScoreOptions& options, const engine::Policy& policy) {
  const auto style = options.output.style();
  const auto& [change, verdict] = scored;
  for (const auto& issue : change.issues) {
    put(style.bold(input_name(options.file) + ":" + std::to_string(issue.line)) + ": " +
        style.paint(Tone::red, "high") + ": " + engine::one_line(issue.message) + " " + style.dim("[parse-error]") +
        "\n");
  }
  for (const auto& signal : verdict.risk.signals) put(finding_line(signal, style));
  if (!verdict.risk.signals.empty() || !change.issues.empty()) put("\n");
  const auto tone = tone_of(verdict.lane);
  put(style.paint(tone, std::string(engine::name_of(verdict.lane)) + " lane") + ", " +
      style.bold(std::to_string(verdict.risk.score)) + " of 100: " + what_happens(verdict.lane, policy) + " " +
      style.dim("(" + size_of(change.patch) + ")") + "\n");
  if (verdict.risk.explain.size() > 1) put(style.dim("  " + how_it_adds_up(verdict.risk)) + "\n");
}

int exit_code(const Scored& scored, const std::string& fail_on) {
  const auto lane = engine::parse_enum<engine::Lane>(fail_on);
  if (lane && scored.verdict.lane >= *lane) return kFlagged;
  if (fail_on == "critical" && scored.verdict.risk.level == engine::Level::critical) return kFlagged;
  return kOk;
}

int run_score(const ScoreOptions& options) {
  if (options.file.empty() && ::isatty(STDIN_FILENO) == 1) {
    return refuse_usage("score: give it a diff: escrow score FILE, or git diff | escrow score");
  }
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  const auto text = read_input(options.file);
  if (!text) return fail(text.error().message);
  Scored scored;
  scored.change = engine::parse_diff(*text);
  scored.verdict =
      engine::evaluate(scored.change, engine::PatchContext{options.confidence, side_by_side()}, place->policy);
  if (options.output.as_json()) {
    print_json(scored);
  } else if (options.output.format == "sarif") {
    put_json(sarif_log(scored.change, scored.verdict, place->policy.own_rules,
                       options.file == "-" ? std::string() : options.file));
  } else {
    print_text(scored, options, place->policy);
  }
  return exit_code(scored, options.fail_on);
}

}  // namespace

void add_score(CommandTree& tree) {
  auto options = std::make_shared<ScoreOptions>();
  auto* app = tree.root.add_subcommand("score", "Score a unified diff from FILE or stdin");
  add_text(*app, "file", options->file, "FILE", "the diff; stdin if absent or -");
  app->add_option("--confidence,--agent-confidence", options->confidence, "the agent's own confidence, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("F");
  add_choice(*app, "--fail-on", options->fail_on, {"medium", "high", "critical"},
             "exit 1 from this lane (or the level critical) on");
  add_output_options(*app, options->output, {"text", "json", "sarif"});
  tree.commands.push_back({"score", app, [options] { return run_score(*options); }});
}

}  // namespace escrow::server::cli

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <limits>
#include <memory>

#include "engine/evaluate.h"
#include "engine/redact.h"
#include "server/cli/audit_labels.h"
#include "server/cli/command.h"
#include "server/cli/input.h"
#include "server/cli/labelled_set.h"
#include "server/cli/metrics.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/workplace.h"
#include "server/json_out.h"
#include "server/store/atomic_file.h"
#include "server/store/audit_log.h"

// escrow evaluate DIR: the judge measured on labelled cases, and compared with an earlier measurement. The report in
// JSON is what a later run takes as its baseline.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

struct EvaluateOptions {
  OutputOptions output;
  std::string directory;
  std::string baseline;
  std::string save_baseline;
  std::size_t shown = 10;
  bool audit = false;
};

/// Both halves of a set, by the names of the report.
struct Evaluated {
  std::optional<Report> commands, diffs;
};

/// A figure that is not what it was.
struct Drift {
  std::string metric;  ///< `diffs.risky_recall`
  double was = 0, now = 0;
  bool worse = false;
};

// ---- Judging

engine::Evaluation judge(const LabelledCommand& label, const Workplace& place) {
  engine::ActionContext context;
  context.venue = engine::Venue::cage;
  context.autonomy = engine::Autonomy::medium;
  context.workspace_root = place.root;
  context.home = place.home;
  return engine::evaluate(engine::ShellAction{label.command, place.cwd}, context, place.policy);
}

engine::PatchEvaluation judge(const LabelledDiff& label, const Workplace& place) {
  return engine::evaluate(engine::parse_diff(label.diff), engine::PatchContext{.confidence = label.confidence},
                          place.policy);
}

template <class Case>
std::optional<Report> measured(const std::vector<Case>& cases, const Workplace& place) {
  if (cases.empty()) return std::nullopt;
  std::vector<decltype(judge(cases.front(), place))> answers;
  answers.reserve(cases.size());
  for (const auto& each : cases) answers.push_back(judge(each, place));
  return measure(cases, answers);
}

// ---- The report as JSON

json::object json_tally(const std::string& name, const Tally& tally) {
  return {{"name", json_text(name)},
          {"right", tally.right},
          {"wrong", tally.wrong},
          {"missed", tally.missed},
          {"on_line", tally.on_line}};
}

json::object json_report(const Report& report) {
  json::object out{{"n", report.cases}, {"failures", report.failures}};
  for (const auto& metric : report.metrics) {
    const auto rate = metric.rate();
    out[metric.key] = rate ? json::value(*rate) : json::value(nullptr);
  }
  json::array tallies, mistakes;
  for (const auto& [name, tally] : report.tallies) tallies.emplace_back(json_tally(name, tally));
  for (const auto& mistake : report.mistakes) {
    mistakes.emplace_back(
        json::object{{"id", json_text(mistake.id)}, {"kind", mistake.kind}, {"detail", json_text(mistake.detail)}});
  }
  out["tallies"] = std::move(tallies);
  out["mistakes"] = std::move(mistakes);
  return out;
}

json::object json_evaluated(const Evaluated& evaluated) {
  json::object out;
  if (evaluated.commands) out["commands"] = json_report(*evaluated.commands);
  if (evaluated.diffs) out["diffs"] = json_report(*evaluated.diffs);
  return out;
}

json::array json_drift(const std::vector<Drift>& drift) {
  json::array out;
  for (const auto& each : drift) {
    out.emplace_back(
        json::object{{"metric", each.metric}, {"was", each.was}, {"now", each.now}, {"worse", each.worse}});
  }
  return out;
}

/// Figures only: which cases are wrong belongs into no file that is compared.
json::object json_baseline(const Evaluated& evaluated) {
  auto out = json_evaluated(evaluated);
  for (auto& [half, report] : out) {
    report.as_object().erase("tallies");
    report.as_object().erase("mistakes");
  }
  return out;
}

/// One figure a line, so that a change of the baseline reads well in a review.
std::string baseline_text(const json::object& baseline) {
  std::string out = "{";
  for (const auto& [half, report] : baseline) {
    out += (out.size() > 1 ? ",\n " : "\n ") + json::serialize(json::string(half)) + ": {";
    bool first = true;
    for (const auto& [key, value] : report.as_object()) {
      out += (first ? "\n  " : ",\n  ") + json::serialize(json::string(key)) + ": " +
             (value.is_double() ? std::to_string(value.get_double()) : json::serialize(value));
      first = false;
    }
    out += "\n }";
  }
  return out + "\n}\n";
}

// ---- Drift

Result<json::object> read_baseline(const std::string& file) {
  const auto text = read_input(file);
  if (!text) return text.error();
  boost::system::error_code error;
  auto value = json::parse(*text, error);
  const bool fits =
      !error && value.is_object() && (value.get_object().contains("commands") || value.get_object().contains("diffs"));
  if (fits) return value.get_object();
  return Error{ErrorKind::invalid_params,
               file + ": no report of escrow evaluate" + (error ? ": " + error.message() : "")};
}

std::optional<double> figure(const json::object& baseline, std::string_view half, std::string_view key) {
  const auto* report = baseline.if_contains(half);
  if (report == nullptr || !report->is_object()) return std::nullopt;
  const auto* value = report->get_object().if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

void compare(const json::object& baseline, const std::string& half, const Report& report, std::vector<Drift>& drift) {
  constexpr double kSame = 1e-6;  // a baseline has six digits
  const auto add = [&](std::string_view key, double now, Better better) {
    const auto was = figure(baseline, half, key);
    if (!was || std::abs(*was - now) <= kSame) return;
    const bool worse = better == Better::higher ? now < *was : now > *was;
    drift.push_back({half + "." + std::string(key), *was, now, worse});
  };
  add("failures", static_cast<double>(report.failures), Better::lower);
  for (const auto& metric : report.metrics) {
    if (const auto rate = metric.rate()) add(metric.key, *rate, metric.better);
  }
}

std::vector<Drift> drift_from(const json::object& baseline, const Evaluated& evaluated) {
  std::vector<Drift> drift;
  if (evaluated.commands) compare(baseline, "commands", *evaluated.commands, drift);
  if (evaluated.diffs) compare(baseline, "diffs", *evaluated.diffs, drift);
  return drift;
}

// ---- The report as text

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string percent(double rate) {
  const auto tenths = static_cast<long>(std::lround(rate * 1000));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

const Drift* drift_of(const std::vector<Drift>& drift, const std::string& metric) {
  for (const auto& each : drift) {
    if (each.metric == metric) return &each;
  }
  return nullptr;
}

std::string metric_line(const Metric& metric, const Drift* drift, const Style& style) {
  const auto rate = metric.rate();
  auto line = "  " + padded(metric.title, 42) + right_aligned(rate ? percent(*rate) : "-", 7);
  if (rate) line += "  " + style.dim(std::to_string(metric.hits) + " of " + std::to_string(metric.of));
  if (drift != nullptr) {
    line += "  " + style.paint(drift->worse ? Tone::red : Tone::green,
                               (drift->worse ? "worse: was " : "better: was ") + percent(drift->was));
  }
  return line + "\n";
}

std::string tally_line(const std::string& name, const Tally& tally) {
  auto line = "  " + padded(engine::one_line(name), 25);
  for (const auto count : {tally.right, tally.wrong, tally.missed}) line += right_aligned(std::to_string(count), 8);
  return line;
}

void print_tallies(const Report& report, const Style& style) {
  put(style.dim("  " + padded("", 24) + "    right   wrong  missed") + "\n");
  for (const auto& [name, tally] : report.tallies) {
    const auto line = tally_line(name, tally);
    put((tally.wrong + tally.missed == 0 ? line : style.paint(Tone::yellow, line)) + "\n");
  }
}

void print_mistakes(const Report& report, std::size_t most, const Style& style) {
  for (std::size_t i = 0; i < std::min(most, report.mistakes.size()); ++i) {
    const auto& mistake = report.mistakes[i];
    put("  " + style.bold(engine::one_line(mistake.id)) + ": " + std::string(mistake.kind) + ": " +
        engine::one_line(mistake.detail, 120) + "\n");
  }
  if (report.mistakes.size() > most)
    put(style.dim("  and " + std::to_string(report.mistakes.size() - most) + " more (--show N)") + "\n");
}

void print_report(const std::string& half, const Report& report, const std::vector<Drift>& drift,
                  const EvaluateOptions& options) {
  const auto style = options.output.style();
  put(style.bold(half) + ": " + counted(report.cases, "case") + "\n");
  for (const auto& metric : report.metrics) {
    put(metric_line(metric, drift_of(drift, half + "." + std::string(metric.key)), style));
  }
  put("\n");
  print_tallies(report, style);
  if (!report.mistakes.empty() && options.shown > 0) put("\n");
  print_mistakes(report, options.shown, style);
  put("\n");
}

bool is_worse(const std::vector<Drift>& drift) {
  return std::any_of(drift.begin(), drift.end(), [](const Drift& each) { return each.worse; });
}

void print_verdict(const std::vector<Drift>& drift, const EvaluateOptions& options) {
  const auto style = options.output.style();
  if (is_worse(drift)) {
    put(style.paint(Tone::red, "worse than " + options.baseline) + "\n");
  } else {
    put(style.paint(Tone::green, drift.empty() ? "as in " : "no worse than ") + options.baseline + "\n");
  }
}

/// A baseline of another set says little; a person should know.
void note_other_set(const json::object& baseline, const std::string& half, const std::optional<Report>& report) {
  if (!report) return;
  const auto n = figure(baseline, half, "n");
  if (!n || static_cast<std::size_t>(*n) == report->cases) return;
  put("note: the baseline was measured on " + counted(static_cast<std::size_t>(*n), "case") + " of " + half +
      ", this on " + std::to_string(report->cases) + "\n");
}

// ---- The command

Result<Evaluated> evaluated_set(const std::string& directory) {
  const auto set = read_labelled_set(directory);
  if (!set) return set.error();
  auto place = find_workplace();
  if (!place) return place.error();
  place->policy.mode = engine::Mode::enforce;
  return Evaluated{measured(set->commands, *place), measured(set->diffs, *place)};
}

// ---- The audit log as a labelled source

std::string share_text(double share) {
  if (share < 0) return "nothing to compare";
  return std::to_string(static_cast<int>(std::lround(share * 100))) + " %";
}

json::object json_agreement(const Agreement& agreement) {
  json::object grades;
  for (const auto& [grade, tally] : agreement.by_grade)
    grades[grade] = json::object{{"approved", tally.approved}, {"denied", tally.denied}};
  json::object out{{"answers", agreement.answers}, {"denied", agreement.denied}, {"by", std::move(grades)}};
  if (agreement.agreement >= 0) out["agreement"] = agreement.agreement;
  return out;
}

json::object json_over_time(const AgreementOverTime& over_time) {
  json::object out = json_agreement(over_time.all);
  out["older"] = json_agreement(over_time.older);
  out["newer"] = json_agreement(over_time.newer);
  return out;
}

void print_over_time(const std::string& what, const AgreementOverTime& over_time, const Style& style) {
  put(style.bold(what) + ": " + counted(over_time.all.answers, "answer") + ", " + std::to_string(over_time.all.denied) +
      " denied\n");
  for (const auto& [grade, tally] : over_time.all.by_grade) {
    put("  " + padded(grade, 10) + std::to_string(tally.approved) + " approved, " + std::to_string(tally.denied) +
        " denied\n");
  }
  put("  the denied had the higher score than the approved in " + share_text(over_time.all.agreement) +
      " of pairs (older half " + share_text(over_time.older.agreement) + ", newer half " +
      share_text(over_time.newer.agreement) + ")\n");
}

int run_evaluate_audit(const EvaluateOptions& options) {
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  const AuditLog log(place->places.state_dir + "/audit.jsonl");
  const auto answers = answered_in(log.tail(std::numeric_limits<std::size_t>::max()));
  std::vector<Answered> commands, changes;
  for (const auto& one : answers) (one.kind == Answered::Kind::command ? commands : changes).push_back(one);
  if (options.output.as_json()) {
    put_json({{"commands", json_over_time(agreement_over_time(commands))},
              {"changes", json_over_time(agreement_over_time(changes))}});
    return kOk;
  }
  if (answers.empty()) put("no person has answered anything yet: " + log.file() + "\n");
  if (!commands.empty()) print_over_time("commands", agreement_over_time(commands), options.output.style());
  if (!changes.empty()) print_over_time("changes", agreement_over_time(changes), options.output.style());
  return kOk;
}

int run_evaluate(const EvaluateOptions& options) {
  if (options.audit != options.directory.empty())
    return refuse_usage("evaluate: needs a DIR of labelled sets, or --audit for what people answered, and not both");
  if (options.audit) return run_evaluate_audit(options);
  const auto evaluated = evaluated_set(options.directory);
  if (!evaluated) return refuse_usage("evaluate: " + evaluated.error().message);
  json::object baseline;
  if (!options.baseline.empty()) {
    auto read = read_baseline(options.baseline);
    if (!read) return refuse_usage("evaluate: " + read.error().message);
    baseline = std::move(*read);
  }
  const auto drift = drift_from(baseline, *evaluated);
  if (options.output.as_json()) {
    auto out = json_evaluated(*evaluated);
    if (!options.baseline.empty()) out["drift"] = json_drift(drift);
    put_json(out);
  } else {
    if (evaluated->commands) print_report("commands", *evaluated->commands, drift, options);
    if (evaluated->diffs) print_report("diffs", *evaluated->diffs, drift, options);
    note_other_set(baseline, "commands", evaluated->commands);
    note_other_set(baseline, "diffs", evaluated->diffs);
    if (!options.baseline.empty()) print_verdict(drift, options);
  }
  if (!options.save_baseline.empty()) {
    const auto saved = write_file_atomically(options.save_baseline, baseline_text(json_baseline(*evaluated)));
    if (!saved) return fail("evaluate: " + saved.error().message);
  }
  return is_worse(drift) ? kFlagged : kOk;
}

}  // namespace

void add_evaluate(CommandTree& tree) {
  auto options = std::make_shared<EvaluateOptions>();
  auto* app = tree.root.add_subcommand("evaluate", "Measure the judge on labelled changes and commands");
  add_text(*app, "directory", options->directory, "DIR", "holds commands.jsonl, diffs.jsonl, or both");
  app->add_flag("--audit", options->audit, "instead of a DIR: what people approved or denied, against the score");
  add_text(*app, "--baseline", options->baseline, "FILE", "an earlier report in JSON: exit 1 if any figure is worse");
  add_text(*app, "--save-baseline", options->save_baseline, "FILE", "write this report's figures there");
  app->add_option("--show", options->shown, "how many mistakes to list of commands, and of diffs (10)")
      ->option_text("N");
  add_output_options(*app, options->output);
  tree.commands.push_back({"evaluate", app, [options] { return run_evaluate(*options); }});
}

}  // namespace escrow::server::cli

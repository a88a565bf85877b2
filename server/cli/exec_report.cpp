#include "server/cli/exec_report.h"

#include <openssl/evp.h>
#include <algorithm>

#include <boost/json/array.hpp>

#include "engine/redact.h"
#include "engine/shell.h"
#include "server/cli/review_view.h"
#include "server/json_out.h"
#include "server/units.h"
#include "server/utf8.h"

namespace escrow::server::cli {
namespace {

namespace json = boost::json;
using sandbox::Execution;
using sandbox::ExitReason;

constexpr int kTimedOut = 124;
constexpr int kKilled = 128 + 9;

std::string whole(const sandbox::Captured& stream) {
  return stream.head + stream.tail;
}

json::object json_decision(const engine::Decision& decision) {
  json::object out;
  out["decision"] = engine::name_of(decision.verdict);
  out["clause"] = json_text(decision.clause);
  out["level"] = engine::name_of(decision.risk.level);
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

/// Both streams in one encoding: text if both are, else base64 of the bytes. Redacted either way, or one stray byte
/// would carry every secret out.
void put_output(json::object& out, const Execution& execution) {
  const auto texts = {whole(execution.out), whole(execution.err)};
  bool binary = false;
  for (const auto& text : texts) binary = binary || valid_utf8(text) != text;
  const auto shown = [&](const std::string& bytes) {
    const auto redacted = engine::redact(bytes);
    return binary ? to_base64(redacted) : redacted;
  };
  out["stdout"] = json_text(shown(whole(execution.out)));
  out["stderr"] = json_text(shown(whole(execution.err)));
  out["encoding"] = binary ? "base64" : "utf-8";
  out["truncated"] = json::object{{"stdout", execution.out.dropped_bytes}, {"stderr", execution.err.dropped_bytes}};
  auto signals = engine::scan_output(whole(execution.out));
  const auto from_err = engine::scan_output(whole(execution.err));
  signals.insert(signals.end(), from_err.begin(), from_err.end());
  if (!signals.empty()) out["outputSignals"] = json_signals(signals);
}

json::object json_enforcement(const sandbox::Enforcement& enforcement) {
  json::object out;
  out["backend"] = json_text(enforcement.backend);
  out["level"] = json_text(enforcement.level);
  out["layers"] = json_texts(enforcement.layers);
  out["writable"] = json_text(enforcement.writable);
  out["memory"] = json_text(enforcement.memory);
  return out;
}

/// The grant that would let it through next time, as the command that makes it.
std::string remedy_command(const engine::Remedy& remedy) {
  return "escrow grants allow " + remedy.grant.tool + " --match " + engine::quote_argv({remedy.grant.match});
}

std::string remedy_for(const FinishedExecution& finished, const sandbox::Violation& violation) {
  for (const auto& remedy : finished.remedies) {
    if (remedy.grant.match == violation.detail) return remedy_command(remedy);
  }
  return {};
}

json::array json_violations(const FinishedExecution& finished) {
  json::array out;
  for (const auto& violation : finished.execution.violations) {
    json::object one{{"kind", sandbox::name_of(violation.kind)}, {"detail", json_text(violation.detail)}};
    if (const auto remedy = remedy_for(finished, violation); !remedy.empty()) one["remedy"] = json_text(remedy);
    out.emplace_back(std::move(one));
  }
  return out;
}

std::string ending(const Execution& execution) {
  const auto took = " after " + format_duration_ms(execution.duration.count());
  switch (execution.reason) {
    case ExitReason::exit:
      return {};
    case ExitReason::timeout:
      return "timed out" + took;
    case ExitReason::limit:
      return "stopped at a limit" + took;
    case ExitReason::killed:
      return execution.signal ? "ended by signal " + std::to_string(*execution.signal) + took : "killed" + took;
    case ExitReason::policy:
      return "stopped by policy" + took;
  }
  return {};
}

std::string violations_text(const FinishedExecution& finished, const Style& style) {
  std::string out;
  for (const auto& violation : finished.execution.violations) {
    out += style.paint(Tone::yellow, "refused") + " " + std::string(sandbox::name_of(violation.kind)) + ": " +
           engine::one_line(violation.detail) + "\n";
    if (const auto remedy = remedy_for(finished, violation); !remedy.empty()) out += "  allow it: " + remedy + "\n";
  }
  return out;
}

/// The first few: a build tree full of sockets is one story.
std::string notes_text(const std::vector<std::string>& notes, const Style& style) {
  constexpr std::size_t kShown = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(notes.size(), kShown); ++i) {
    out += style.paint(Tone::yellow, "note: ") + engine::one_line(notes[i], 200) + "\n";
  }
  if (notes.size() > kShown)
    out += style.dim("  and " + std::to_string(notes.size() - kShown) + " more like these") + "\n";
  return out;
}

std::string changes_text(const Review& review, const Style& style) {
  auto out = style.bold(counted(review.files.size(), "file")) + " changed, held as " + style.bold(review.id) + " (" +
             style.paint(tone_of(review.lane), std::string(engine::name_of(review.lane)) + " lane") + ", " +
             std::to_string(review.risk.score) + " of 100, " + std::string(engine::name_of(review.state)) + ")\n";
  out += review_files_text(review, style);
  const auto verb = review.state == ReviewState::approved ? "apply" : "approve";
  return out + style.dim("  escrow review show " + review.id + "   escrow review " + verb + " " + review.id) + "\n";
}

}  // namespace

int exit_code_of(const FinishedExecution& finished) {
  if (finished.cage_error) return kNotRun;
  const auto& execution = finished.execution;
  if (execution.reason == ExitReason::timeout) return kTimedOut;
  if (execution.exit_code) return *execution.exit_code;
  return execution.signal ? 128 + *execution.signal : kKilled;
}

json::object json_not_run(const engine::Decision& decision, const std::string& message) {
  auto out = json_decision(decision);
  out["ran"] = false;
  out["message"] = json_text(message);
  return out;
}

json::object json_finished(const engine::Decision& decision, const FinishedExecution& finished,
                           const std::optional<Review>& changes) {
  const auto& execution = finished.execution;
  auto out = json_decision(decision);
  out["ran"] = true;
  out["exitCode"] = execution.exit_code ? json::value(*execution.exit_code) : json::value(nullptr);
  out["signal"] = execution.signal ? json::value(*execution.signal) : json::value(nullptr);
  out["reason"] = sandbox::name_of(execution.reason);
  put_output(out, execution);
  out["durationMs"] = execution.duration.count();
  out["usage"] = json::object{{"cpuMs", execution.usage.cpu.count()}, {"maxRssBytes", execution.usage.max_rss_bytes}};
  out["enforcement"] = json_enforcement(execution.enforcement);
  out["violations"] = json_violations(finished);
  if (changes) out["changes"] = json_changes(*changes);
  if (!finished.notes.empty()) out["notes"] = json_texts(finished.notes);
  return out;
}

std::string text_finished(const FinishedExecution& finished, const std::optional<Review>& changes, const Style& style) {
  std::string out;
  if (const auto end = ending(finished.execution); !end.empty()) out += style.paint(Tone::red, end) + "\n";
  out += violations_text(finished, style);
  if (changes) out += changes_text(*changes, style);
  return out + notes_text(finished.notes, style);
}

}  // namespace escrow::server::cli

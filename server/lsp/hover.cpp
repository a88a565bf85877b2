#include "server/lsp/hover.h"

#include <set>

#include "engine/explain.h"
#include "engine/redact.h"
#include "server/lsp/session.h"

namespace escrow::server::lsp {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string rule_text(const std::string& rule) {
  const auto* text = engine::find_rule_text(rule);
  return text == nullptr ? std::string() : std::string(text->title) + ". " + std::string(text->why) + "\n";
}

std::string signal_text(const engine::Signal& signal) {
  std::string text = signal.rule + " (" + std::string(engine::name_of(signal.severity)) + ", " +
                     std::to_string(signal.weight) + " points" +
                     (signal.cwe.empty() ? std::string() : ", " + joined(signal.cwe)) + ")\n";
  text += engine::one_line(signal.message, 400) + "\n";
  return text + rule_text(signal.rule);
}

std::string call_text(const Review& review) {
  const engine::Decision& decision = *review.decision;
  std::string text = review.agent + " asks to run, in " + review.cwd + ":\n  " + review.title + "\n";
  text += "Level " + std::string(engine::name_of(decision.risk.level)) + ": " + joined(decision.risk.categories) + "\n";
  if (!decision.reason.empty()) text += engine::one_line(decision.reason, 400) + "\n";
  text += "Clause: " + decision.clause + "\n";
  for (const auto& category : decision.risk.categories) text += rule_text(category);
  return text;
}

std::string change_text(const Review& review) {
  std::string text =
      (review.agent.empty() ? std::string("A change") : review.agent + " proposes") + ": " + review.title + "\n";
  text += "State " + std::string(engine::name_of(review.state)) + ", lane " +
          std::string(engine::name_of(review.lane)) + ", " + std::to_string(review.files.size()) + " file(s)\n";
  text += engine::explain_score(review.risk) + "\n";
  for (const auto& check : review.checks) {
    text += "Check " + check.name + ": " + check.state + (check.required ? " (required)" : "") +
            (check.detail.empty() ? "" : ", " + check.detail) + "\n";
  }
  for (const auto& note : review.notes) text += "Note: " + engine::one_line(note, 300) + "\n";
  return text;
}

/// A finding on an open patch: there is no review, so the text is judged again for the weight and the sum.
std::string patch_text(const Session& session, const std::string& uri, const Finding& finding) {
  const Document* document = session.documents.find(uri);
  if (document != nullptr && is_patch(*document)) {
    const auto risk = session.broker->judge_patch_text(document->text).risk;
    for (const auto& signal : risk.signals) {
      if (signal.rule == finding.rule && signal.message == finding.message) {
        return signal_text(signal) + engine::explain_score(risk) + "\n";
      }
    }
  }
  return engine::one_line(finding.message, 400) + "\n" + rule_text(finding.rule);
}

}  // namespace

std::optional<protocol::Hover> hover_at(const Session& session, const FindingsView& view, const std::string& uri,
                                        protocol::Position position) {
  std::string text;
  std::set<std::string> told;
  std::optional<protocol::Range> range;
  for (const auto& shown : view.at(uri, {.start = position, .end = position})) {
    const Finding& finding = shown.finding;
    if (!range) range = shown.range;
    if (!text.empty()) text += "\n";
    const auto review = finding.review_id.empty() ? nullptr : session.broker->find_review(finding.review_id);
    if (review && told.insert(finding.review_id).second) {
      text += review->kind == ReviewKind::call ? call_text(*review) : change_text(*review);
    }
    if (review && finding.signal >= 0 && static_cast<std::size_t>(finding.signal) < review->risk.signals.size()) {
      text += signal_text(review->risk.signals[static_cast<std::size_t>(finding.signal)]);
    } else if (!review) {
      text += patch_text(session, uri, finding);
    }
  }
  if (text.empty()) return std::nullopt;
  protocol::Hover hover;
  hover.contents = {.kind = protocol::MarkupKind::plaintext, .value = engine::make_visible(text)};
  hover.range = range;
  return hover;
}

}  // namespace escrow::server::lsp

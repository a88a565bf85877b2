#include "server/cli/audit_labels.h"

#include <algorithm>
#include <optional>

#include "server/store/json_member.h"

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

std::int64_t integer_in(const json::object& entry, std::string_view key) {
  const auto* found = entry.if_contains(key);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

bool by_person(const json::object& entry) {
  return text_at(entry, "by").starts_with("person");
}

class AnswerReader {
 public:
  void entry(const json::object& entry) {
    const std::string event = text_at(entry, "event");
    if (event == "review") {
      reviews_[text_at(entry, "reviewId")] = {text_at(entry, "lane"), static_cast<int>(integer_in(entry, "score"))};
    } else if (event == "answer" && by_person(entry) && entry.contains("level")) {
      add({Answered::Kind::command, integer_in(entry, "time"), text_at(entry, "level"),
           static_cast<int>(integer_in(entry, "score")), text_at(entry, "answer") != "deny"});
    } else if (event == "approve" && by_person(entry) && text_at(entry, "state") == "approved") {
      change(entry, true);
    } else if (event == "reject" && text_at(entry, "state") == "rejected") {
      change(entry, false);
    }
  }

  std::vector<Answered> take() { return std::move(out_); }

 private:
  struct Scored {
    std::string lane;
    int score = 0;
  };

  void add(Answered answered) { out_.push_back(std::move(answered)); }

  /// A review whose scoring lies before the log's beginning has no score to compare with.
  void change(const json::object& entry, bool approved) {
    const auto known = reviews_.find(text_at(entry, "reviewId"));
    if (known == reviews_.end()) return;
    add({Answered::Kind::change, integer_in(entry, "time"), known->second.lane, known->second.score, approved});
  }

  std::map<std::string, Scored> reviews_;
  std::vector<Answered> out_;
};

/// By counting, not by pairs: there are at most 101 scores.
double share_of_pairs(const std::vector<Answered>& answers, std::size_t approved, std::size_t denied) {
  if (approved == 0 || denied == 0) return -1;
  std::map<int, Agreement::Tally> by_score;
  for (const Answered& one : answers) ++(one.approved ? by_score[one.score].approved : by_score[one.score].denied);
  double below = 0, right = 0;
  for (const auto& [score, tally] : by_score) {
    const auto here = static_cast<double>(tally.approved);
    right += static_cast<double>(tally.denied) * (below + here / 2);
    below += here;
  }
  return right / (static_cast<double>(approved) * static_cast<double>(denied));
}

}  // namespace

std::vector<Answered> answered_in(const std::vector<json::object>& entries) {
  AnswerReader reader;
  for (const auto& entry : entries) reader.entry(entry);
  return reader.take();
}

Agreement agreement_of(const std::vector<Answered>& answers) {
  Agreement out;
  out.answers = answers.size();
  for (const Answered& one : answers) {
    ++(one.approved ? out.by_grade[one.grade].approved : out.by_grade[one.grade].denied);
    out.denied += one.approved ? 0 : 1;
  }
  out.agreement = share_of_pairs(answers, out.answers - out.denied, out.denied);
  return out;
}

AgreementOverTime agreement_over_time(const std::vector<Answered>& answers) {
  const auto middle = answers.begin() + static_cast<std::ptrdiff_t>(answers.size() / 2);
  return {agreement_of(answers), agreement_of({answers.begin(), middle}), agreement_of({middle, answers.end()})};
}

}  // namespace escrow::server::cli

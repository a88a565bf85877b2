#include "server/cli/labelled_set.h"

#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <functional>

#include "server/cli/input.h"

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

/// Thrown inside this file only: a reader of members would else be more checks than reading.
struct BadLabel {
  std::string message;
};

const json::value& member(const json::object& object, std::string_view key) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) throw BadLabel{"\"" + std::string(key) + "\" is missing"};
  return *found;
}

const json::object& object_at(const json::object& object, std::string_view key) {
  const auto* found = member(object, key).if_object();
  if (found == nullptr) throw BadLabel{"\"" + std::string(key) + "\" is no object"};
  return *found;
}

std::string as_text(const json::value& value, std::string_view key) {
  const auto* found = value.if_string();
  if (found == nullptr) throw BadLabel{"\"" + std::string(key) + "\" is no text"};
  return std::string(*found);
}

std::string text_in(const json::object& object, std::string_view key) {
  return as_text(member(object, key), key);
}

double number_in(const json::object& object, std::string_view key, double otherwise) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) return otherwise;
  if (!found->is_number()) throw BadLabel{"\"" + std::string(key) + "\" is no number"};
  return found->to_number<double>();
}

const json::array& list_in(const json::object& object, std::string_view key) {
  static const json::array kNone;
  const auto* found = object.if_contains(key);
  if (found == nullptr) return kNone;
  if (!found->is_array()) throw BadLabel{"\"" + std::string(key) + "\" is no list"};
  return found->get_array();
}

std::vector<std::string> texts_in(const json::object& object, std::string_view key) {
  std::vector<std::string> out;
  for (const auto& item : list_in(object, key)) out.push_back(as_text(item, key));
  return out;
}

template <class E>
E word(const std::string& name, std::string_view key) {
  const auto value = engine::parse_enum<E>(name);
  if (!value) throw BadLabel{"\"" + std::string(key) + "\" cannot be '" + name + "'"};
  return *value;
}

void read(const json::object& row, LabelledCommand& out) {
  out.id = text_in(row, "id");
  out.stratum = text_in(row, "stratum");
  out.command = text_in(row, "command");
  const auto& expect = object_at(row, "expect");
  out.level = word<engine::Level>(text_in(expect, "level"), "level");
  out.decision = word<engine::Verdict>(text_in(expect, "decision_default"), "decision_default");
  out.categories = texts_in(expect, "categories");
  out.tolerated = texts_in(expect, "also_ok");
}

engine::Signal read_signal(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) throw BadLabel{"a signal is no object"};
  engine::Signal out;
  out.rule = text_in(*object, "rule");
  out.file = text_in(*object, "file");
  out.line = static_cast<std::uint32_t>(number_in(*object, "line", 0));
  out.end_line = static_cast<std::uint32_t>(number_in(*object, "end_line", out.line));
  return out;
}

void read_expectation(const json::object& expect, LabelledDiff& out) {
  out.lane = word<engine::Lane>(text_in(expect, "lane"), "lane");
  out.accepted = {out.lane};
  for (const auto& name : texts_in(expect, "lane_alt")) out.accepted.push_back(word<engine::Lane>(name, "lane_alt"));
  out.min_score = static_cast<int>(number_in(expect, "min_score", 0));
  out.max_score = static_cast<int>(number_in(expect, "max_score", 100));
  for (const auto& signal : list_in(expect, "signals")) out.signals.push_back(read_signal(signal));
  out.tolerated = texts_in(expect, "also_ok");
}

void read(const json::object& row, LabelledDiff& out) {
  out.id = text_in(row, "id");
  out.stratum = text_in(row, "stratum");
  out.diff = text_in(row, "diff");
  const auto& metadata = object_at(row, "metadata");
  if (metadata.contains("agent_confidence")) out.confidence = number_in(metadata, "agent_confidence", 1);
  read_expectation(object_at(row, "expect"), out);
}

/// Calls `visit` with each line that is not blank and its number.
void for_each_line(std::string_view text, const std::function<void(std::string_view, int)>& visit) {
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) visit(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

template <class Case>
Case read_case(std::string_view line) {
  boost::system::error_code error;
  const auto value = json::parse(line, error);
  if (error || !value.is_object()) throw BadLabel{"not a JSON object: " + (error ? error.message() : "another value")};
  Case out;
  read(value.get_object(), out);
  return out;
}

template <class Case>
Result<std::vector<Case>> read_cases(const std::string& file) {
  const auto text = read_input(file);
  if (!text) return text.error();
  std::vector<Case> cases;
  int at = 0;
  try {
    for_each_line(*text, [&](std::string_view line, int number) {
      at = number;
      cases.push_back(read_case<Case>(line));
    });
  } catch (const BadLabel& bad) {
    return Error{ErrorKind::invalid_params, file + ":" + std::to_string(at) + ": " + bad.message};
  }
  return cases;
}

bool exists(const std::string& file) {
  return ::access(file.c_str(), F_OK) == 0;
}

}  // namespace

Result<LabelledSet> read_labelled_set(const std::string& directory) {
  const auto commands_file = directory + "/commands.jsonl", diffs_file = directory + "/diffs.jsonl";
  if (!exists(commands_file) && !exists(diffs_file)) {
    return Error{ErrorKind::not_found, directory + ": there is neither a commands.jsonl nor a diffs.jsonl"};
  }
  LabelledSet out;
  if (exists(commands_file)) {
    auto commands = read_cases<LabelledCommand>(commands_file);
    if (!commands) return commands.error();
    out.commands = std::move(*commands);
  }
  if (exists(diffs_file)) {
    auto diffs = read_cases<LabelledDiff>(diffs_file);
    if (!diffs) return diffs.error();
    out.diffs = std::move(*diffs);
  }
  if (out.commands.empty() && out.diffs.empty()) {
    return Error{ErrorKind::invalid_params, directory + ": the set is empty"};
  }
  return out;
}

}  // namespace escrow::server::cli

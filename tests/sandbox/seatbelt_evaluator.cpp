#include "tests/sandbox/seatbelt_evaluator.h"

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>

namespace escrow::sandbox::testing {

/// An atom (a word, a string, a regular expression) or a list.
struct SeatbeltEvaluator::Node {
  std::string text;
  bool is_list = false;
  std::vector<Node> items;

  const std::string& head() const {
    if (items.empty() || items.front().is_list) throw std::runtime_error("a list that begins with no word");
    return items.front().text;
  }
};

class SeatbeltEvaluator::Parser {
 public:
  explicit Parser(const SeatbeltProfile& profile)
      : rest_(profile.text), parameters_(profile.parameters.begin(), profile.parameters.end()) {}

  std::vector<Node> all() {
    std::vector<Node> nodes;
    for (skip(); !rest_.empty(); skip()) nodes.push_back(node());
    return nodes;
  }

 private:
  void skip() {
    while (!rest_.empty()) {
      if (rest_.front() == ';')
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      else if (rest_.front() == ' ' || rest_.front() == '\n')
        rest_.remove_prefix(1);
      else
        return;
    }
  }

  char take() {
    if (rest_.empty()) throw std::runtime_error("the profile ends within a list");
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  Node node() {
    if (rest_.front() == '(') return list();
    if (rest_.front() == ')') throw std::runtime_error("a list is closed that was not opened");
    if (rest_.front() == '#') take();
    if (rest_.front() == '"') return string();
    const std::size_t end = std::min(rest_.find_first_of(" \n()\";"), rest_.size());
    Node word{.text = std::string(rest_.substr(0, end)), .is_list = false, .items = {}};
    rest_.remove_prefix(end);
    return word;
  }

  Node string() {
    take();
    Node result;
    for (char c; (c = take()) != '"';) result.text += c;
    return result;
  }

  /// `(param "NAME")` becomes its value at once.
  Node list() {
    take();
    Node result{.text = {}, .is_list = true, .items = {}};
    for (skip(); rest_.empty() || rest_.front() != ')'; skip()) {
      if (rest_.empty()) throw std::runtime_error("the profile ends within a list");
      result.items.push_back(node());
    }
    take();
    if (result.items.size() != 2 || result.items[0].text != "param") return result;
    const auto value = parameters_.find(result.items[1].text);
    if (value == parameters_.end()) throw std::runtime_error("no parameter " + result.items[1].text);
    return Node{.text = value->second, .is_list = false, .items = {}};
  }

  std::string_view rest_;
  std::map<std::string, std::string> parameters_;
};

namespace {

bool operation_matches(const std::string& pattern, const std::string& operation) {
  if (pattern == "default") return true;
  if (pattern.ends_with('*')) return operation.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == operation;
}

bool is_below(const std::string& path, const std::string& root) {
  return path == root || path.starts_with(root == "/" ? root : root + "/");
}

bool is_address(const std::string& pattern, const std::string& subject) {
  if (!pattern.ends_with(":*")) return pattern == subject;
  return subject.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

SeatbeltEvaluator::SeatbeltEvaluator(const SeatbeltProfile& profile) : rules_(Parser(profile).all()) {
  for (const Node& rule : rules_)
    if (const std::string& head = rule.head(); head != "version" && head != "allow" && head != "deny")
      throw std::runtime_error("unknown form: " + head);
}

SeatbeltEvaluator::~SeatbeltEvaluator() = default;

bool SeatbeltEvaluator::matches(const Node& filter, const SeatbeltRequest& request) {
  const std::string& kind = filter.head();
  const auto of_items = [&](const Node& item) { return item.is_list && matches(item, request); };
  if (kind == "require-all") return std::all_of(filter.items.begin() + 1, filter.items.end(), of_items);
  if (kind == "require-any") return std::any_of(filter.items.begin() + 1, filter.items.end(), of_items);
  if (kind == "require-not") return !matches(filter.items.at(1), request);
  const std::string& value = filter.items.at(1).text;
  if (kind == "subpath") return is_below(request.subject, value);
  if (kind == "regex") return std::regex_search(request.subject, std::regex(value, std::regex::extended));
  if (kind == "remote" || kind == "local") return is_address(filter.items.at(2).text, request.subject);
  if (kind == "target") return value == "same-sandbox" && request.own;
  if (kind == "extension") return request.own;
  if (kind == "vnode-type") return value == "CHARACTER-DEVICE" && request.device;
  if (kind.ends_with("-prefix")) return request.subject.starts_with(value);
  for (const char* exact : {"literal", "global-name", "sysctl-name", "iokit-user-client-class", "preference-domain",
                            "socket-domain", "socket-protocol"})
    if (kind == exact) return request.subject == value;
  throw std::runtime_error("unknown filter: " + kind);
}

bool SeatbeltEvaluator::allows(const SeatbeltRequest& request) const {
  bool allowed = false;
  for (const Node& rule : rules_) {
    if (rule.head() == "version") continue;
    bool named = false, filtered = false, fits = false;
    for (std::size_t i = 1; i < rule.items.size(); ++i) {
      const Node& item = rule.items[i];
      if (!item.is_list) {
        named = named || operation_matches(item.text, request.operation);
      } else if (item.head() != "with") {
        filtered = true;
        fits = fits || matches(item, request);
      }
    }
    if (named && (!filtered || fits)) allowed = rule.head() == "allow";
  }
  return allowed;
}

}  // namespace escrow::sandbox::testing

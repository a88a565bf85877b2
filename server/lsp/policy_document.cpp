#include "server/lsp/policy_document.h"

#include <algorithm>
#include <charconv>

#include "engine/policy_lint.h"
#include "engine/redact.h"
#include "server/lsp/policy_cursor.h"
#include "server/store/config.h"
#include "server/store/policy_keys.h"
#include "server/store/policy_yaml.h"

namespace escrow::server::lsp {
namespace {

/// From the place to the end of its line.
protocol::Range range_from(const std::string& text, int line, int column, PositionEncoding encoding) {
  const LineIndex lines(text);
  const auto number = static_cast<std::size_t>(std::max(line, 1) - 1);
  const std::size_t start = lines.line_start(number);
  const std::size_t end = start + lines.line(number).size();
  const std::size_t from = std::min(start + static_cast<std::size_t>(std::max(column, 1) - 1), end);
  return {lines.to_position(from, encoding), lines.to_position(end, encoding)};
}

/// Notes of merging begin with `file:line: `.
int line_of_note(const std::string& note, const std::string& file) {
  if (!note.starts_with(file + ":")) return 1;
  int line = 1;
  std::from_chars(note.data() + file.size() + 1, note.data() + note.size(), line);
  return line;
}

std::string without_place(const std::string& note, const std::string& file) {
  if (!note.starts_with(file + ":")) return note;
  const auto at = note.find(": ", file.size());
  return at == std::string::npos ? note : note.substr(at + 2);
}

std::string shape_text(const PolicyKey& key) {
  switch (key.shape) {
    case KeyShape::mapping:
      return "a mapping";
    case KeyShape::named:
      return "a mapping of names";
    case KeyShape::list:
      return "a list";
    case KeyShape::choice:
    case KeyShape::choices: {
      std::string text;
      for (const auto& choice : key.choices) text += (text.empty() ? "" : " | ") + choice;
      return key.shape == KeyShape::choice ? text : "a list of " + text;
    }
    case KeyShape::flag:
      return "true | false";
    case KeyShape::score:
      return "0 to 100";
    case KeyShape::weight:
      return "1 to 100";
    case KeyShape::count:
      return "a whole number";
    case KeyShape::share:
      return "0 to 1";
    case KeyShape::duration:
      return "500ms, 30s, 5m, 24h";
    case KeyShape::size:
      return "512K, 64M, 4G";
    case KeyShape::text:
      return "text";
    case KeyShape::texts:
      return "a list of texts";
    case KeyShape::host:
      return "a host";
    case KeyShape::hosts:
      return "a list of hosts";
  }
  return {};
}

protocol::CompletionItem key_item(const PolicyKey& key) {
  constexpr std::int32_t kProperty = 10;
  protocol::CompletionItem item;
  item.label = name_of_key(key);
  item.kind = kProperty;
  item.detail = shape_text(key);
  item.documentation = key.meaning;
  item.insertText = item.label + ": ";
  return item;
}

protocol::CompletionItem value_item(const std::string& value) {
  constexpr std::int32_t kValue = 12;
  protocol::CompletionItem item;
  item.label = value;
  item.kind = kValue;
  return item;
}

void add_unique(std::vector<std::string>& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// Names that a value may refer to: checks of the built-in bands and of this file, tools, ids of rules.
std::vector<std::string> known_names(const std::string& path, const Document& document) {
  std::vector<std::string> out;
  const auto parsed = parse_policy(document.text, document.path, engine::LayerKind::user);
  if (path.starts_with("risk_bands.") && path.ends_with(".actions")) {
    for (const auto& [name, band] : engine::builtin_policy().risk_bands)
      for (const auto& action : band.actions) add_unique(out, action);
    for (const auto& [name, check] : parsed.layer.checks) add_unique(out, name);
  }
  if (path == "rules[].tool") out = {"shell", "exec", "file", "network", "mcp"};
  if (path == "rules[].id")
    for (const auto& rule : parsed.layer.rules) add_unique(out, rule.id);
  if (path == "diff_rules[].id")
    for (const auto& rule : parsed.layer.own_rules) add_unique(out, rule.id);
  std::erase(out, std::string());
  return out;
}

std::vector<std::string> values_for(const PolicyKey& key, const Document& document) {
  if (key.shape == KeyShape::choice || key.shape == KeyShape::choices) return key.choices;
  if (key.shape == KeyShape::flag) return {"true", "false"};
  return known_names(key.path, document);
}

PolicyCursor cursor_at(const Document& document, protocol::Position position, PositionEncoding encoding) {
  return find_policy_cursor(document.text, LineIndex(document.text).to_offset(position, encoding));
}

}  // namespace

std::optional<engine::LayerKind> policy_layer_of(const Document& document, const Places& places) {
  if (document.path.empty()) return std::nullopt;
  if (document.path.ends_with("/.escrow/policy.yaml")) return engine::LayerKind::workspace;
  if (document.path == user_policy_file(places)) return engine::LayerKind::user;
  if (document.path == places.system_policy) return engine::LayerKind::system;
  return std::nullopt;
}

std::vector<PolicyRemark> remarks_on_policy(const Document& document, engine::LayerKind layer,
                                            PositionEncoding encoding) {
  std::vector<PolicyRemark> out;
  const std::string& text = document.text;
  const auto add = [&](PolicyRemark::Kind kind, int line, int column, const std::string& message) {
    out.push_back({kind, range_from(text, line, column, encoding), engine::one_line(message, 600)});
  };
  const auto parsed = parse_policy(text, document.path, layer);
  for (const auto& problem : parsed.problems)
    add(PolicyRemark::Kind::problem, problem.line, problem.column, problem.message);
  if (!parsed.problems.empty()) return out;
  for (const auto& note : engine::merge_layers({parsed.layer}).notes)
    add(PolicyRemark::Kind::warning, line_of_note(note, document.path), 1, without_place(note, document.path));
  for (const auto& warning : engine::lint_layer(parsed.layer))
    add(PolicyRemark::Kind::warning, warning.line, 1, warning.message);
  return out;
}

std::optional<protocol::Hover> policy_hover(const Document& document, protocol::Position position,
                                            PositionEncoding encoding) {
  const PolicyCursor cursor = cursor_at(document, position, encoding);
  const auto* key = find_policy_key(cursor.path());
  if (key == nullptr || cursor.begin == cursor.end) return std::nullopt;
  const LineIndex lines(document.text);
  protocol::Hover hover;
  hover.contents = {.kind = protocol::MarkupKind::plaintext,
                    .value = key->path + ": " + shape_text(*key) + "\n" + key->meaning + "\n"};
  hover.range = protocol::Range{lines.to_position(cursor.begin, encoding), lines.to_position(cursor.end, encoding)};
  return hover;
}

std::vector<protocol::CompletionItem> policy_completion(const Document& document, protocol::Position position,
                                                        PositionEncoding encoding) {
  std::vector<protocol::CompletionItem> out;
  const PolicyCursor cursor = cursor_at(document, position, encoding);
  if (cursor.at == PolicyCursor::At::key) {
    for (const auto* key : keys_below(cursor.section))
      if (name_of_key(*key) != "*") out.push_back(key_item(*key));
    return out;
  }
  if (const auto* key = find_policy_key(cursor.path()))
    for (const auto& value : values_for(*key, document)) out.push_back(value_item(value));
  return out;
}

}  // namespace escrow::server::lsp

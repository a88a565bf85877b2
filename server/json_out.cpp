#include "server/json_out.h"

#include "engine/level.h"
#include "server/utf8.h"

namespace escrow::server {

namespace json = boost::json;

json::string json_text(std::string_view bytes) {
  const auto text = valid_utf8(bytes);
  return json::string(text.data(), text.size());
}

json::array json_texts(const std::vector<std::string>& items) {
  json::array out;
  for (const auto& item : items) out.emplace_back(json_text(item));
  return out;
}

json::object json_signal(const engine::Signal& signal) {
  json::object out;
  out["rule"] = json_text(signal.rule);
  out["file"] = json_text(signal.file);
  out["line"] = signal.line;
  out["end_line"] = signal.end_line;
  out["severity"] = engine::name_of(signal.severity);
  out["weight"] = signal.weight;
  out["message"] = json_text(signal.message);
  out["cwe"] = json_texts(signal.cwe);
  return out;
}

json::array json_signals(const std::vector<engine::Signal>& signals) {
  json::array out;
  for (const auto& signal : signals) out.emplace_back(json_signal(signal));
  return out;
}

json::array json_explain(const std::vector<engine::Contribution>& explain) {
  json::array out;
  for (const auto& part : explain) {
    out.emplace_back(json::object{{"rule", json_text(part.rule)}, {"points", part.points}});
  }
  return out;
}

json::object json_file(const engine::FilePatch& file) {
  const auto counts = engine::count_lines(file);
  json::object out;
  out["path"] = json_text(file.path());
  out["status"] = std::string(1, engine::letter_of(file.status));
  out["added"] = counts.added;
  out["removed"] = counts.removed;
  const bool moved = file.status == engine::FileStatus::renamed || file.status == engine::FileStatus::copied;
  if (moved) out["from"] = json_text(file.old_path);
  return out;
}

}  // namespace escrow::server

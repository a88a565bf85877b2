#include "server/store/review_json.h"

#include <boost/json.hpp>

#include "engine/enum_names.h"
#include "server/hash.h"
#include "server/review/change.h"

namespace escrow::server {
namespace {

namespace json = boost::json;

json::object image_json(const FileImage& image, const std::function<void(const std::string&)>& keep_blob) {
  if (!image.exists()) return {};
  keep_blob(image.content);
  return {{"mode", git_mode(image)}, {"permissions", image.mode}, {"sha256", sha256_hex(image.content)}};
}

json::object file_json(const ReviewFile& file, const std::function<void(const std::string&)>& keep_blob) {
  json::object marks;
  for (const auto& hunk : file.hunks) marks[hunk.id] = engine::name_of(hunk.mark);
  return {{"path", file.path},
          {"oldPath", file.old_path},
          {"before", image_json(file.before, keep_blob)},
          {"after", image_json(file.after, keep_blob)},
          {"marks", std::move(marks)}};
}

json::object signal_json(const engine::Signal& signal) {
  return {{"rule", signal.rule},
          {"file", signal.file},
          {"line", signal.line},
          {"endLine", signal.end_line},
          {"severity", engine::name_of(signal.severity)},
          {"weight", signal.weight},
          {"message", signal.message},
          {"cwe", json::value_from(signal.cwe)}};
}

json::object risk_json(const engine::Risk& risk) {
  json::array signals, explain;
  for (const auto& signal : risk.signals) signals.push_back(signal_json(signal));
  for (const auto& part : risk.explain) explain.push_back({{"rule", part.rule}, {"points", part.points}});
  return {{"level", engine::name_of(risk.level)},
          {"score", risk.score},
          {"categories", json::value_from(risk.categories)},
          {"signals", std::move(signals)},
          {"explain", std::move(explain)}};
}

json::object check_json(const Check& check) {
  return {{"name", check.name}, {"state", check.state}, {"detail", check.detail}, {"required", check.required}};
}

// Reading throws std::exception on any wrong shape; `review_from_json` turns that into one Error. The file is ours:
// wrong means damaged, and there is nothing to say about it but where.

std::string text_of(const json::object& object, std::string_view key) {
  return std::string(object.at(key).as_string());
}

template <class E>
E enum_of(const json::object& object, std::string_view key) {
  const std::string text = text_of(object, key);
  if (const auto value = engine::parse_enum<E>(text)) return *value;
  throw std::invalid_argument("unknown " + std::string(key) + " `" + text + "`");
}

std::vector<std::string> texts_of(const json::object& object, std::string_view key) {
  return json::value_to<std::vector<std::string>>(object.at(key));
}

engine::Signal read_signal(const json::object& object) {
  return {.rule = text_of(object, "rule"),
          .file = text_of(object, "file"),
          .line = object.at("line").to_number<std::uint32_t>(),
          .end_line = object.at("endLine").to_number<std::uint32_t>(),
          .severity = enum_of<engine::Level>(object, "severity"),
          .weight = object.at("weight").to_number<int>(),
          .message = text_of(object, "message"),
          .cwe = texts_of(object, "cwe")};
}

engine::Risk read_risk(const json::object& object) {
  engine::Risk risk{.level = enum_of<engine::Level>(object, "level"),
                    .score = object.at("score").to_number<int>(),
                    .categories = texts_of(object, "categories"),
                    .signals = {},
                    .explain = {}};
  for (const auto& item : object.at("signals").as_array()) risk.signals.push_back(read_signal(item.as_object()));
  for (const auto& item : object.at("explain").as_array()) {
    const auto& part = item.as_object();
    risk.explain.push_back({.rule = text_of(part, "rule"), .points = part.at("points").to_number<int>()});
  }
  return risk;
}

FileImage read_image_json(const json::object& object,
                          const std::function<Result<std::string>(const std::string&)>& blob) {
  if (object.empty()) return {};
  auto content = blob(text_of(object, "sha256"));
  if (!content) throw std::runtime_error(content.error().message);
  const bool link = object.at("mode").to_number<std::uint32_t>() == 0120000;
  return {.kind = link ? ImageKind::symlink : ImageKind::file,
          .mode = object.at("permissions").to_number<std::uint32_t>(),
          .content = std::move(*content)};
}

ReviewFile read_file_json(const json::object& object,
                          const std::function<Result<std::string>(const std::string&)>& blob) {
  ReviewFile file = make_review_file(text_of(object, "oldPath"), text_of(object, "path"),
                                     read_image_json(object.at("before").as_object(), blob),
                                     read_image_json(object.at("after").as_object(), blob));
  const auto& marks = object.at("marks").as_object();
  for (auto& hunk : file.hunks) hunk.mark = enum_of<HunkMark>(marks, hunk.id);
  return file;
}

using ReadFile = std::function<ReviewFile(const json::object&)>;

Review read_review(const json::object& object, const ReadFile& read_file) {
  Review review;
  review.id = text_of(object, "id");
  review.revision = object.at("revision").to_number<int>();
  review.state = enum_of<ReviewState>(object, "state");
  review.root = text_of(object, "root");
  review.agent = text_of(object, "agent");
  review.agent_id = text_of(object, "agentId");
  review.session = text_of(object, "session");
  review.call_id = text_of(object, "callId");
  review.title = text_of(object, "title");
  review.origin = text_of(object, "origin");
  review.created_ms = object.at("createdAt").to_number<std::int64_t>();
  review.updated_ms = object.at("updatedAt").to_number<std::int64_t>();
  review.expires_ms = object.at("expiresAt").to_number<std::int64_t>();
  review.risk = read_risk(object.at("risk").as_object());
  review.lane = enum_of<engine::Lane>(object, "lane");
  review.notes = texts_of(object, "notes");
  review.approved_by = text_of(object, "approvedBy");
  review.approved_lane = enum_of<engine::Lane>(object, "approvedLane");
  review.undo_id = text_of(object, "undoId");
  for (const auto& item : object.at("files").as_array()) {
    review.files.push_back(read_file(item.as_object()));
  }
  for (const auto& item : object.at("checks").as_array()) {
    const auto& check = item.as_object();
    review.checks.push_back({.name = text_of(check, "name"),
                             .state = text_of(check, "state"),
                             .detail = text_of(check, "detail"),
                             .required = check.at("required").as_bool()});
  }
  return review;
}

}  // namespace

json::object to_json(const Review& review, const std::function<void(const std::string&)>& keep_blob) {
  json::array files, checks;
  for (const auto& file : review.files) files.push_back(file_json(file, keep_blob));
  for (const auto& check : review.checks) checks.push_back(check_json(check));
  return {{"version", 1},
          {"id", review.id},
          {"revision", review.revision},
          {"state", engine::name_of(review.state)},
          {"root", review.root},
          {"agent", review.agent},
          {"agentId", review.agent_id},
          {"session", review.session},
          {"callId", review.call_id},
          {"title", review.title},
          {"origin", review.origin},
          {"createdAt", review.created_ms},
          {"updatedAt", review.updated_ms},
          {"expiresAt", review.expires_ms},
          {"risk", risk_json(review.risk)},
          {"lane", engine::name_of(review.lane)},
          {"notes", json::value_from(review.notes)},
          {"files", std::move(files)},
          {"checks", std::move(checks)},
          {"approvedBy", review.approved_by},
          {"approvedLane", engine::name_of(review.approved_lane)},
          {"undoId", review.undo_id}};
}

Result<Review> review_from_json(const json::value& value,
                                const std::function<Result<std::string>(const std::string&)>& blob) {
  try {
    return read_review(value.as_object(), [&](const json::object& file) { return read_file_json(file, blob); });
  } catch (const std::exception& error) {
    return Error{ErrorKind::io, std::string("damaged review: ") + error.what()};
  }
}

Result<Review> outline_from_json(const json::value& value, std::set<std::string>& hashes) {
  const auto outline = [&](const json::object& object) {
    for (const char* side : {"before", "after"}) {
      const auto& image = object.at(side).as_object();
      if (!image.empty()) hashes.insert(text_of(image, "sha256"));
    }
    ReviewFile file;
    file.path = text_of(object, "path");
    file.old_path = text_of(object, "oldPath");
    return file;
  };
  try {
    return read_review(value.as_object(), outline);
  } catch (const std::exception& error) {
    return Error{ErrorKind::io, std::string("damaged review: ") + error.what()};
  }
}

}  // namespace escrow::server

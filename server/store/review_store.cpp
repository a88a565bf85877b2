#include "server/store/review_store.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "server/hash.h"
#include "server/store/atomic_file.h"
#include "server/store/json_member.h"
#include "server/store/private_directory.h"
#include "server/store/review_json.h"

namespace escrow::server {
namespace {

namespace fs = std::filesystem;

std::string review_file(const std::string& directory, const std::string& id) {
  return directory + "/" + id + ".json";
}
std::string blob_directory(const std::string& directory) {
  return directory + "/blobs";
}

/// Ids come from callers: only what `put` could have made is looked up, so that no id is a path.
bool is_review_id(const std::string& id) {
  return !id.empty() && id.size() <= 64 &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

Result<std::string> load_blob(const std::string& directory, const std::string& hash) {
  auto bytes = read_file(blob_directory(directory) + "/" + hash);
  if (!bytes) return bytes.error();
  if (sha256_hex(*bytes) != hash)
    return Error{ErrorKind::io, "blob " + hash + " does not have the content it is named by"};
  return bytes;
}

Result<Review> load_review(const std::string& directory, const std::string& file) {
  const auto bytes = read_file(file);
  if (!bytes) return bytes.error();
  boost::system::error_code error;
  const auto value = parse_stored(*bytes, error);
  if (error) return Error{ErrorKind::io, file + ": " + error.message()};
  return review_from_json(value, [&](const std::string& hash) { return load_blob(directory, hash); });
}

Result<void> save_review(const std::string& directory, const Review& review) {
  if (auto made = make_private_directory(directory); !made) return made;
  if (auto made = make_private_directory(blob_directory(directory)); !made) return made;
  Result<void> kept;
  const auto object = to_json(review, [&](const std::string& content) {
    const std::string file = blob_directory(directory) + "/" + sha256_hex(content);
    if (kept && !fs::exists(file)) kept = write_file_atomically(file, content);
  });
  if (!kept) return kept;
  return write_file_atomically(review_file(directory, review.id), boost::json::serialize(object));
}

bool is_review_file(const fs::path& path) {
  return path.extension() == ".json";
}

}  // namespace

ReviewStore::ReviewStore(std::string directory) : directory_(std::move(directory)) {}

Result<void> ReviewStore::put(const Review& review) {
  if (auto made = make_private_directory(directory_); !made) return made;
  const auto lock = FileLock::take(directory_ + "/reviews");
  if (!lock) return lock.error();
  return save_review(directory_, review);
}

Result<Review> ReviewStore::get(const std::string& id) const {
  const Error missing{ErrorKind::not_found, "no review " + id};
  if (!is_review_id(id)) return missing;
  auto review = load_review(directory_, review_file(directory_, id));
  if (!review && review.error().kind == ErrorKind::not_found) return missing;
  return review;
}

std::vector<Review> ReviewStore::list(const std::string& root) const {
  std::vector<Review> reviews;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    if (!is_review_file(entry.path())) continue;
    auto review = load_review(directory_, entry.path().string());
    if (review && (root.empty() || review->root == root)) reviews.push_back(std::move(*review));
  }
  std::sort(reviews.begin(), reviews.end(), [](const Review& a, const Review& b) {
    return std::pair(a.created_ms, a.id) > std::pair(b.created_ms, b.id);
  });
  return reviews;
}

Result<Review> ReviewStore::update(const std::string& id, const std::function<Result<void>(Review&)>& change) {
  if (auto made = make_private_directory(directory_); !made) return made.error();
  const auto lock = FileLock::take(directory_ + "/reviews");
  if (!lock) return lock.error();
  auto review = get(id);
  if (!review) return review.error();
  if (auto changed = change(*review); !changed) return changed.error();
  if (auto saved = save_review(directory_, *review); !saved) return saved.error();
  return review;
}

void ReviewStore::sweep(std::int64_t before_ms) {
  if (!fs::exists(directory_)) return;
  const auto lock = FileLock::take(directory_ + "/reviews");
  if (!lock) return;
  std::set<std::string> wanted;
  for (const auto& review : list({})) {
    if (is_final(review.state) && review.updated_ms < before_ms) {
      ::unlink(review_file(directory_, review.id).c_str());
      continue;
    }
    to_json(review, [&](const std::string& content) { wanted.insert(sha256_hex(content)); });
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(blob_directory(directory_), error)) {
    if (!wanted.contains(entry.path().filename().string())) fs::remove(entry.path(), error);
  }
}

std::string ReviewStore::stamp() const {
  return file_stamp(directory_);
}

}  // namespace escrow::server

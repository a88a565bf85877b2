#include "server/store/review_store.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "server/hash.h"
#include "server/store/atomic_file.h"
#include "server/store/json_member.h"
#include "server/store/private_directory.h"
#include "server/store/review_json.h"

namespace escrow::server {
namespace {

namespace fs = std::filesystem;

/// Of contents kept in memory.
constexpr std::size_t kMostRemembered = 24u << 20;

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

/// Blobs are named by their content, which is compared when they are read: a power cut may lose one, never alter it.
Result<void> save_blob(const std::string& directory, const std::string& content) {
  const std::string file = blob_directory(directory) + "/" + sha256_hex(content);
  std::error_code error;
  if (fs::file_size(file, error) == content.size() && !error) return {};
  return write_file_atomically(file, content, Durable::no);
}

std::shared_ptr<const Review> brief_of(Review review) {
  for (auto& file : review.files) {
    file.before.content.clear();
    file.after.content.clear();
    file.patch = {};
    file.hunks.clear();
  }
  return std::make_shared<const Review>(std::move(review));
}

/// Without the blobs; `hashes` takes their names.
Result<Review> load_outline(const std::string& file, std::set<std::string>& hashes) {
  const auto bytes = read_file(file);
  if (!bytes) return bytes.error();
  boost::system::error_code error;
  const auto value = parse_stored(*bytes, error);
  if (error) return Error{ErrorKind::io, file + ": " + error.message()};
  return outline_from_json(value, hashes);
}

/// What it takes in memory, roughly.
std::size_t bytes_of(const Review& review) {
  std::size_t bytes = 4096;
  for (const auto& file : review.files) bytes += 1024 + 3 * (file.before.content.size() + file.after.content.size());
  return bytes;
}

void sort_newest_first(std::vector<std::shared_ptr<const Review>>& reviews) {
  std::sort(reviews.begin(), reviews.end(), [](const auto& a, const auto& b) {
    return std::pair(a->created_ms, a->id) > std::pair(b->created_ms, b->id);
  });
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
  return save(review);
}

/// Under the lock.
Result<void> ReviewStore::save(const Review& review) {
  if (auto made = make_private_directory(directory_); !made) return made;
  if (auto made = make_private_directory(blob_directory(directory_)); !made) return made;
  Result<void> kept;
  const auto object = to_json(review, [&](const std::string& content) {
    if (kept) kept = save_blob(directory_, content);
  });
  if (!kept) return kept;
  const std::string file = review_file(directory_, review.id);
  if (auto written = write_file_atomically(file, boost::json::serialize(object)); !written) return written;
  remember(review.id, file_stamp(file), std::make_shared<const Review>(review));
  return {};
}

Result<Review> ReviewStore::get(const std::string& id) const {
  auto review = load(id);
  if (!review) return review.error();
  return **review;
}

std::shared_ptr<const Review> ReviewStore::find(const std::string& id) const {
  auto review = load(id);
  return review ? *review : nullptr;
}

Result<std::shared_ptr<const Review>> ReviewStore::load(const std::string& id) const {
  const Error missing{ErrorKind::not_found, "no review " + id};
  if (!is_review_id(id)) return missing;
  const std::string file = review_file(directory_, id);
  const std::string stamp = file_stamp(file);
  const auto known = known_.find(id);
  if (known != known_.end() && known->second.review && known->second.stamp == stamp) {
    known->second.used = ++clock_;
    return known->second.review;
  }
  auto review = load_review(directory_, file);
  if (!review) return review.error().kind == ErrorKind::not_found ? missing : review.error();
  auto shared = std::make_shared<const Review>(std::move(*review));
  remember(id, stamp, shared);
  return shared;
}

void ReviewStore::remember(const std::string& id, const std::string& stamp,
                           std::shared_ptr<const Review> review) const {
  Known& known = known_[id];
  bytes_ -= known.bytes;
  known = {.stamp = stamp,
           .review = review,
           .brief = is_final(review->state) ? brief_of(*review) : nullptr,
           .bytes = bytes_of(*review),
           .used = ++clock_};
  bytes_ += known.bytes;
  forget_some();
}

/// The longest unused first, but not the one just used.
void ReviewStore::forget_some() const {
  while (bytes_ > kMostRemembered) {
    auto oldest = known_.end();
    for (auto it = known_.begin(); it != known_.end(); ++it) {
      const bool older = oldest == known_.end() || it->second.used < oldest->second.used;
      if (it->second.review && it->second.used != clock_ && older) oldest = it;
    }
    if (oldest == known_.end()) return;
    bytes_ -= std::exchange(oldest->second.bytes, 0);
    oldest->second.review.reset();
  }
}

/// A settled one is not read whole until somebody asks for it.
void ReviewStore::note(const std::string& id, const std::string& file) const {
  const std::string stamp = file_stamp(file);
  std::set<std::string> hashes;
  auto outline = load_outline(file, hashes);
  if (!outline || !is_final(outline->state)) return (void)load(id);
  Known& known = known_[id];
  bytes_ -= known.bytes;
  known = {.stamp = stamp, .review = nullptr, .brief = brief_of(std::move(*outline)), .bytes = 0, .used = 0};
}

/// Makes `known_` what lies in the directory. A directory that changed a moment ago may change again within one tick of
/// the clock that stamps it: it is not trusted yet.
void ReviewStore::look_around() const {
  const std::string stamp = this->stamp();
  if (!seen_.empty() && stamp == seen_) return;
  std::set<std::string> there;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    if (!is_review_file(entry.path())) continue;
    const std::string id = entry.path().stem().string();
    there.insert(id);
    const auto known = known_.find(id);
    const std::string file = entry.path().string();
    if (known == known_.end() || known->second.stamp != file_stamp(file)) note(id, file);
  }
  std::erase_if(known_, [&](const auto& known) {
    if (there.contains(known.first)) return false;
    bytes_ -= known.second.bytes;
    return true;
  });
  const auto changed = fs::last_write_time(directory_, error);
  const bool quiet = !error && fs::file_time_type::clock::now() - changed > std::chrono::milliseconds(100);
  seen_ = quiet ? stamp : std::string();
}

std::vector<std::shared_ptr<const Review>> ReviewStore::open(const std::string& root) const {
  look_around();
  std::vector<std::string> ids;
  for (const auto& [id, known] : known_) {
    if (!known.brief) ids.push_back(id);
  }
  std::vector<std::shared_ptr<const Review>> reviews;
  for (const auto& id : ids) {
    auto review = find(id);
    if (review && (root.empty() || review->root == root)) reviews.push_back(std::move(review));
  }
  sort_newest_first(reviews);
  return reviews;
}

std::vector<std::shared_ptr<const Review>> ReviewStore::settled(const std::string& root) const {
  look_around();
  std::vector<std::shared_ptr<const Review>> reviews;
  for (const auto& [id, known] : known_) {
    if (known.brief && (root.empty() || known.brief->root == root)) reviews.push_back(known.brief);
  }
  sort_newest_first(reviews);
  return reviews;
}

std::vector<Review> ReviewStore::list(const std::string& root) const {
  std::vector<Review> reviews;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    if (!is_review_file(entry.path())) continue;
    const auto review = find(entry.path().stem().string());
    if (review && (root.empty() || review->root == root)) reviews.push_back(*review);
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
  if (auto saved = save(*review); !saved) return saved.error();
  return review;
}

void ReviewStore::sweep(std::int64_t before_ms) {
  if (!fs::exists(directory_)) return;
  const auto lock = FileLock::take(directory_ + "/reviews");
  if (!lock) return;
  std::set<std::string> wanted;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    if (!is_review_file(entry.path())) continue;
    std::set<std::string> hashes;
    const auto review = load_outline(entry.path().string(), hashes);
    if (!review) return;  // whose contents would be taken away is not known
    if (review && is_final(review->state) && review->updated_ms < before_ms)
      ::unlink(entry.path().c_str());
    else
      wanted.merge(hashes);
  }
  for (const auto& entry : fs::directory_iterator(blob_directory(directory_), error)) {
    if (!wanted.contains(entry.path().filename().string())) fs::remove(entry.path(), error);
  }
}

std::string ReviewStore::stamp() const {
  return file_stamp(directory_);
}

}  // namespace escrow::server

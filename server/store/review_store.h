#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/error.h"
#include "server/review/review.h"

namespace escrow::server {

/// Reviews on disk (0700 directory): one JSON file a review, file contents as blobs named by their hash. The store is
/// the truth: a crash or an editor's restart loses none, and a change made by another process is seen at the next look.
/// What was read is kept in memory for as long as its file is the same. Use from one thread; processes are kept apart
/// by a lock file.
class ReviewStore {
 public:
  explicit ReviewStore(std::string directory);

  Result<void> put(const Review& review);
  Result<Review> get(const std::string& id) const;
  /// The same without a copy; null if there is none, or it cannot be read.
  std::shared_ptr<const Review> find(const std::string& id) const;
  /// Those of one root (of all if empty) on which something may still happen, newest first. Cheap while nothing
  /// changes.
  std::vector<std::shared_ptr<const Review>> open(const std::string& root) const;
  /// The settled ones without the contents of their files, newest first. As cheap.
  std::vector<std::shared_ptr<const Review>> settled(const std::string& root) const;
  /// Reviews of one workspace root (all of them if empty), newest first. Unreadable ones are left out and noted.
  std::vector<Review> list(const std::string& root) const;
  /// Locks, reads, lets `change` alter it, writes. `change` returning an error leaves it as it was.
  Result<Review> update(const std::string& id, const std::function<Result<void>(Review&)>& change);
  /// Removes settled reviews older than `before_ms`, and blobs nothing refers to.
  void sweep(std::int64_t before_ms);
  /// Changes whenever any review on disk may have changed; cheap.
  std::string stamp() const;

 private:
  struct Known {
    std::string stamp;
    std::shared_ptr<const Review> review;  ///< null: not read yet, or forgotten to save memory
    std::shared_ptr<const Review> brief;   ///< of a settled one: without contents
    std::size_t bytes = 0;
    std::uint64_t used = 0;
  };

  Result<std::shared_ptr<const Review>> load(const std::string& id) const;
  Result<void> save(const Review& review);
  void remember(const std::string& id, const std::string& stamp, std::shared_ptr<const Review> review) const;
  void forget_some() const;
  void note(const std::string& id, const std::string& file) const;
  void look_around() const;

  std::string directory_;
  mutable std::map<std::string, Known> known_;  ///< by id
  mutable std::size_t bytes_ = 0;
  mutable std::uint64_t clock_ = 0;
  mutable std::string seen_;  ///< the directory's stamp when all of it was looked at; empty: look again
};

}  // namespace escrow::server

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/error.h"
#include "server/review/review.h"

namespace escrow::server {

/// Reviews on disk (0700 directory): one JSON file a review, file contents as blobs named by their hash. The store is
/// the truth: a crash or an editor's restart loses none, and a change made by another process is seen at the next look.
/// Use from one thread; processes are kept apart by a lock file.
class ReviewStore {
 public:
  explicit ReviewStore(std::string directory);

  Result<void> put(const Review& review);
  Result<Review> get(const std::string& id) const;
  /// Reviews of one workspace root (all of them if empty), newest first. Unreadable ones are left out and noted.
  std::vector<Review> list(const std::string& root) const;
  /// Locks, reads, lets `change` alter it, writes. `change` returning an error leaves it as it was.
  Result<Review> update(const std::string& id, const std::function<Result<void>(Review&)>& change);
  /// Removes settled reviews older than `before_ms`, and blobs nothing refers to.
  void sweep(std::int64_t before_ms);
  /// Changes whenever any review on disk may have changed; cheap.
  std::string stamp() const;

 private:
  std::string directory_;
};

}  // namespace escrow::server

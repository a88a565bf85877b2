#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/grant.h"
#include "server/error.h"

namespace escrow::server {

/// Remembered decisions in one JSON file (0600), shared by every Escrow process of the user.
///
/// Each look-up compares the file's identity with the one last read and reads again if it changed, so a revocation
/// elsewhere holds at once. Writers lock, read, change, write to a temporary name, fsync and rename: two writers lose
/// nothing. A damaged entry is skipped and noted, is kept in the file as it is, and never allows anything.
/// Session and once grants live in memory only. Any thread may construct one; use from one thread.
class GrantStore {
 public:
  explicit GrantStore(std::string file);

  /// Everything that may apply now, expired ones left out. Notes about damaged entries go to `notes()`.
  const std::vector<engine::Grant>& current(std::int64_t now_ms);
  /// Validates, gives it an id, and stores it (user and workspace scope in the file, the rest in memory).
  Result<engine::Grant> add(engine::Grant grant);
  /// False if there is no such grant.
  Result<bool> revoke(const std::string& id);
  Result<std::size_t> revoke_all();
  /// Forgets the memory-only grants of a session that ended.
  void end_session(const std::string& session);
  /// Forgets a `once` grant that was used.
  void spend(const std::string& id);

  const std::vector<std::string>& notes() const { return notes_; }
  const std::string& file() const { return file_; }

 private:
  void reload_if_changed();

  std::string file_;
  std::string seen_;  ///< device, inode, size and mtime of what was read
  std::vector<engine::Grant> stored_, memory_, current_;
  std::vector<std::string> notes_;
};

}  // namespace escrow::server

#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/grant.h"
#include "engine/grant_index.h"
#include "server/error.h"
#include "server/store/atomic_file.h"

namespace escrow::server {

/// Of grants.json. A file of another version is refused with its version named; `entries_of` in grant_store.cpp is
/// where an older one would be read.
inline constexpr int kGrantStoreVersion = 1;

/// Larger stores are refused: ten thousand grants take 4 MiB.
inline constexpr std::size_t kMaxGrantStoreBytes = std::size_t{16} << 20;

/// Remembered decisions in one JSON file (0600), shared by every Escrow process of the user.
///
/// Each look-up compares the file's identity with the one last read and reads again if it changed, so a revocation
/// elsewhere holds at once; nothing else of a look-up touches the disk. Writers lock, read, change, write to a
/// temporary name, fsync and rename: two writers lose nothing, and a reader sees one or the other. A damaged entry is
/// skipped and noted with its place, is kept in the file as it is, and never allows anything. Session and once grants
/// live in memory only. Any thread may construct one; use from one thread.
class GrantStore {
 public:
  /// What was read, by the text of its entry.
  using Read = std::map<std::string, engine::Grant>;

  explicit GrantStore(std::string file);

  /// Everything that may apply now, expired ones left out. Notes about damaged entries go to `notes()`.
  const std::vector<engine::Grant>& current(std::int64_t now_ms);
  /// The same for judging, expired ones still among them. Good until the next call of any member.
  const engine::GrantIndex& index();
  /// True if something in the file cannot be read and may have been a deny.
  bool uncertain();
  /// Validates, gives it an id, and stores it (user and workspace scope in the file, the rest in memory).
  Result<engine::Grant> add(engine::Grant grant);
  /// False if there is no such grant.
  Result<bool> revoke(const std::string& id);
  /// Forgets all, damaged entries included. A file that is no store at all is left alone and is an error.
  Result<std::size_t> revoke_all();
  /// Forgets the memory-only grants of a session that ended.
  void end_session(const std::string& session);
  /// Forgets a `once` grant that was used.
  void spend(const std::string& id);

  /// `file:line:column: what is wrong, and what is allowed there`, one a damaged entry.
  const std::vector<std::string>& notes() const { return notes_; }
  const std::string& file() const { return file_; }

 private:
  /// Which file was read. Holding it open keeps its inode from being given to a successor.
  struct Seen {
    Fd held;
    struct stat status {};
  };
  bool is_unchanged() const;
  void reload_if_changed();
  void rebuild();

  std::string file_;
  std::optional<Seen> seen_;  ///< empty: never read, or there was no file
  bool looked_ = false;
  Read stored_;
  std::vector<engine::Grant> memory_, current_;
  engine::GrantIndex index_;
  std::vector<std::string> notes_;
  bool uncertain_ = false;
};

}  // namespace escrow::server

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/error.h"
#include "server/store/atomic_file.h"

namespace escrow::server {

/// Which entries are wanted; what is empty asks for nothing.
struct AuditFilter {
  std::optional<std::int64_t> since_ms = {}, until_ms = {};
  std::string agent = {};   ///< its name or its id
  std::string kind = {};    ///< the event, or its first word: `grant` is also `grant.revoke`
  std::string file = {};    ///< a path, or the end of one, that the entry names
  std::string review = {};  ///< a review id
  bool wants(const boost::json::object& entry) const;
};

/// The append-only record: one JSON object a line, each holding the SHA-256 of the line before it.
///
/// `append` locks the file, reads its last line again (another process may have written), and appends one line. A torn
/// last line is closed and noted. A file that is full is renamed to `audit-000001.jsonl` and so on, and the first entry
/// of its successor carries the chain over. `verify` proves order and integrity against accident; a rewrite of the
/// whole log by the same user is seen only by comparing with a hash kept elsewhere (`anchor`). Written at once, on the
/// disk after `sync`, which the destructor calls too.
class AuditLog {
 public:
  /// A file of this size is full.
  static constexpr std::int64_t kRotateBytes = std::int64_t{16} << 20;

  explicit AuditLog(std::string file, std::int64_t rotate_bytes = kRotateBytes)
      : file_(std::move(file)), rotate_bytes_(rotate_bytes) {}
  AuditLog(AuditLog&& other) noexcept;
  AuditLog& operator=(AuditLog&&) = delete;
  ~AuditLog();

  /// `event` names what happened; `fields` must already be redacted. Adds seq, time, prev.
  Result<void> append(const std::string& event, const boost::json::object& fields);
  /// What was appended is on the disk. Nothing to do if nothing was.
  Result<void> sync();

  struct Verification {
    bool ok = false;
    std::size_t entries = 0;
    std::string last_hash;
    std::string problem;  ///< `audit.jsonl:12: …`: the first bad entry; empty if ok
    std::string note;     ///< what is worth knowing of a log that is in order: a last line that was cut off
  };
  /// `anchor`: a hash that must occur in the chain; empty for none.
  Verification verify(const std::string& anchor = {}) const;

  /// The newest `max` entries that are wanted, oldest first.
  std::vector<boost::json::object> tail(std::size_t max, const AuditFilter& filter = {}) const;

  /// The full ones in order, then the one that is written; only those that exist.
  std::vector<std::string> files() const;
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::int64_t rotate_bytes_;
  bool dirty_ = false;
};

/// Reads on where it stopped, through rotations. For `audit show -f`.
class AuditFollower {
 public:
  /// Begins behind what is there now.
  explicit AuditFollower(std::string file);
  /// The entries added since, oldest first. A line that is not finished yet waits.
  std::vector<boost::json::object> read_new();

 private:
  void read_rest(std::vector<boost::json::object>& entries);
  bool open_file();

  std::string file_;
  Fd fd_;
  std::string rest_;
};

}  // namespace escrow::server

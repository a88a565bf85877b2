#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "server/error.h"

namespace escrow::server {

/// The append-only record: one JSON object a line, each holding the SHA-256 of the line before it.
///
/// `append` locks the file, reads its last line again (another process may have written), and appends one line. A torn
/// last line is closed and noted. `verify` proves order and integrity against accident; a rewrite of the whole file by
/// the same user is seen only by comparing with a hash kept elsewhere (`anchor`).
class AuditLog {
 public:
  explicit AuditLog(std::string file) : file_(std::move(file)) {}

  /// `event` names what happened; `fields` must already be redacted. Adds seq, time, prev.
  Result<void> append(const std::string& event, const boost::json::object& fields);

  struct Verification {
    bool ok = false;
    std::size_t entries = 0;
    std::string last_hash;
    std::string problem;  ///< `line 12: …`; empty if ok
  };
  /// `anchor`: a hash that must occur in the chain; empty for none.
  Verification verify(const std::string& anchor = {}) const;

  /// The newest `max` entries, oldest first.
  std::vector<boost::json::object> tail(std::size_t max) const;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

}  // namespace escrow::server

#pragma once

#include <string>
#include <vector>

#include "server/error.h"

namespace escrow::server {

/// How one path of a transaction is brought from old to new.
struct JournalEntry {
  std::string path;
  std::string temporary;      ///< name beside it: first the staged new file, then the displaced old one
  std::string before, after;  ///< fingerprints
};

/// What a crash must be mended by. Written and fsynced before the first byte of the user's tree is touched.
struct WriteJournal {
  std::string id;
  std::string root;
  bool committed = false;                     ///< every rename is done: finish, rather than roll back
  std::vector<std::string> made_directories;  ///< outermost first
  std::vector<JournalEntry> entries;
};

Result<void> save_journal(const std::string& directory, const WriteJournal& journal);
void remove_journal(const std::string& directory, const std::string& id);
/// Every journal there; unreadable ones become lines in `problems`.
std::vector<WriteJournal> load_journals(const std::string& directory, std::vector<std::string>& problems);

}  // namespace escrow::server

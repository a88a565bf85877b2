#pragma once

#include <string>
#include <vector>

#include "server/workspace/user_tree.h"
#include "server/workspace/write_journal.h"

namespace escrow::server {

/// Writes a set of files all or nothing.
///
/// Every new file is staged under a temporary name in its own directory and fsynced; the journal is on disk before
/// that. Then each path changes by one rename: RENAME_EXCHANGE over an existing file, RENAME_NOREPLACE for a new one, a
/// rename aside for a deletion. What was displaced is compared with the reviewed base; on the first mismatch everything
/// is renamed back. Directory descriptors are held throughout, so a parent swapped for a link changes nothing.
Result<WriteRecord> run_write_transaction(const std::string& root, const std::vector<FileWrite>& writes,
                                          const std::string& journal_directory);

/// Brings an interrupted transaction to all-old (not committed) or all-new (committed). A file that is exactly neither
/// is left alone and named in the result.
std::vector<std::string> recover_transaction(const WriteJournal& journal, const std::string& journal_directory);

}  // namespace escrow::server

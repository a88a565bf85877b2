#include "server/workspace/local_tree.h"

#include <strings.h>

#include <filesystem>

#include "server/store/atomic_file.h"
#include "server/store/private_directory.h"
#include "server/workspace/beneath.h"
#include "server/workspace/write_transaction.h"

namespace escrow::server {
namespace {

/// A link may point anywhere below the root and nowhere else. Judged by text, since what it passes may not exist yet.
bool link_stays_inside(const std::string& path, const std::string& target) {
  if (target.empty() || target.front() == '/') return false;
  const auto joined = (std::filesystem::path(parent_of(path)) / target).lexically_normal().generic_string();
  return joined != ".." && joined.compare(0, 3, "../") != 0 && refuse_path(joined).empty();
}

Result<void> refuse_write(const FileWrite& write) {
  if (const auto why = refuse_path(write.path); !why.empty()) return Error{ErrorKind::outside_roots, why};
  if (write.after.kind == ImageKind::symlink && !link_stays_inside(write.path, write.after.content)) {
    return Error{ErrorKind::symlink_or_device_refused,
                 write.path + ": the link `" + write.after.content + "` leaves the workspace, or points into .git"};
  }
  return {};
}

}  // namespace

std::string refuse_path(const std::string& path) {
  if (path.empty()) return "empty path";
  if (path.find('\0') != std::string::npos) return "a path may not hold NUL";
  if (path.front() == '/') return path + ": must be relative to the workspace";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return path + ": `" + part + "` is not a file name";
    if (::strcasecmp(part.c_str(), ".git") == 0) return path + ": git's own files are never written";
    begin = end + 1;
  }
  return {};
}

Result<FileImage> LocalTree::read(const std::string& root, const std::string& path) {
  if (const auto why = refuse_path(path); !why.empty()) return Error{ErrorKind::outside_roots, why};
  const auto top = open_root(root);
  if (!top) return top.error();
  const auto parent = open_parent(top->get(), path);
  if (!parent && parent.error().kind == ErrorKind::not_found) return FileImage{};
  if (!parent) return parent.error();
  return read_image(parent->get(), name_of_path(path), path);
}

Result<WriteRecord> LocalTree::write_all(const std::string& root, const std::vector<FileWrite>& writes) {
  for (const auto& write : writes) {
    if (auto fine = refuse_write(write); !fine) return fine.error();
  }
  if (auto made = make_private_directory(journal_directory_); !made) return made.error();
  const auto lock = FileLock::take(lock_file());
  if (!lock) return lock.error();
  return run_write_transaction(root, writes, journal_directory_);
}

std::vector<std::string> LocalTree::recover() {
  std::vector<std::string> problems;
  if (!std::filesystem::exists(journal_directory_)) return problems;
  // A journal whose writer lives is not an interrupted one: writers hold the same lock.
  const auto lock = FileLock::take(lock_file());
  if (!lock) return {lock.error().message};
  for (const auto& journal : load_journals(journal_directory_, problems)) {
    const auto more = recover_transaction(journal, journal_directory_);
    problems.insert(problems.end(), more.begin(), more.end());
  }
  return problems;
}

}  // namespace escrow::server

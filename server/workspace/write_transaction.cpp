#include "server/workspace/write_transaction.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <set>

#include "server/hash.h"
#include "server/store/atomic_file.h"
#include "server/workspace/beneath.h"

namespace escrow::server {
namespace {

int rename_beside(int dir, const std::string& from, const std::string& to, unsigned flags) {
  return static_cast<int>(::syscall(SYS_renameat2, dir, from.c_str(), dir, to.c_str(), flags));
}

/// Extended attributes (ACLs are among them) go with the content; one that cannot be set is left out only if the new
/// file system does not know it.
Result<void> copy_attributes(int from, int to, const std::string& what) {
  std::vector<char> names(65536);
  const ssize_t size = ::flistxattr(from, names.data(), names.size());
  if (size <= 0) return {};
  for (const char* name = names.data(); name < names.data() + size; name += std::string_view(name).size() + 1) {
    std::vector<char> value(65536);
    const ssize_t length = ::fgetxattr(from, name, value.data(), value.size());
    if (length < 0) continue;
    if (::fsetxattr(to, name, value.data(), static_cast<std::size_t>(length), 0) != 0 && errno != ENOTSUP) {
      return io_error("cannot keep the attribute " + std::string(name) + " of " + what);
    }
  }
  return {};
}

/// More files than this are written to the disk by one syncfs instead of an fsync each.
constexpr std::size_t kFewFiles = 16;

/// One path under way.
struct Step {
  const FileWrite* write = nullptr;
  std::shared_ptr<const Fd> parent;
  std::string name;
  std::string temporary;
  bool moved = false;  ///< its rename is done
};

class Transaction {
 public:
  Transaction(std::string root, std::string journal_directory)
      : root_path_(std::move(root)), journal_directory_(std::move(journal_directory)) {
    journal_.id = "w-" + random_token().substr(0, 12);
    journal_.root = root_path_;
  }

  Result<WriteRecord> run(const std::vector<FileWrite>& writes) {
    auto done = attempt(writes);
    if (done) return WriteRecord{.id = journal_.id, .writes = writes};
    roll_back();
    return done.error();
  }

 private:
  Result<void> attempt(const std::vector<FileWrite>& writes) {
    auto root = open_root(root_path_);
    if (!root) return root.error();
    root_ = std::move(*root);
    plan(writes);
    if (auto saved = save_journal(journal_directory_, journal_); !saved) return saved;
    journaled_ = true;
    for (const auto& write : writes) {
      if (auto staged = stage(write); !staged) return staged;
    }
    if (writes.size() > kFewFiles && ::syncfs(root_.get()) != 0)
      return io_error("cannot write " + root_path_ + " to disk");
    for (auto& step : steps_) {
      if (auto moved = move(step); !moved) return moved;
    }
    return commit();
  }

  /// Names everything that may come to exist, before anything does.
  void plan(const std::vector<FileWrite>& writes) {
    std::set<std::string> missing, there;
    for (const auto& write : writes) {
      journal_.entries.push_back({.path = write.path,
                                  .temporary = ".escrow-" + journal_.id + "-" + std::to_string(journal_.entries.size()),
                                  .before = fingerprint(write.before),
                                  .after = fingerprint(write.after)});
      if (!write.after.exists()) continue;
      for (std::string parent = parent_of(write.path); !parent.empty(); parent = parent_of(parent)) {
        if (there.contains(parent) || missing.contains(parent)) break;  // and so all above it were looked at
        (open_parent(root_.get(), parent + "/x") ? there : missing).insert(parent);
      }
    }
    journal_.made_directories.assign(missing.begin(), missing.end());  // a parent sorts before its children
  }

  Result<void> stage(const FileWrite& write) {
    const JournalEntry& entry = journal_.entries[steps_.size()];
    auto parent = directory_for(write);
    if (!parent) return parent.error();
    steps_.push_back({.write = &write,
                      .parent = std::move(*parent),
                      .name = name_of_path(write.path),
                      .temporary = entry.temporary});
    if (!write.after.exists()) return {};
    return write.after.kind == ImageKind::symlink ? stage_link(steps_.back()) : stage_file(steps_.back());
  }

  /// The open directory of a path, made if it is to be. One descriptor serves all files of a directory.
  Result<std::shared_ptr<const Fd>> directory_for(const FileWrite& write) {
    const std::string path = parent_of(write.path);
    if (const auto known = parents_.find(path); known != parents_.end()) return known->second;
    if (auto made = make_parents(write); !made) return made.error();
    auto parent = open_parent(root_.get(), write.path);
    if (!parent) return parent.error();
    return parents_[path] = std::make_shared<const Fd>(std::move(*parent));
  }

  Result<void> make_parents(const FileWrite& write) {
    if (!write.after.exists()) return {};
    const auto& made = journal_.made_directories;
    std::vector<std::string> wanted;
    for (std::string parent = parent_of(write.path); !parent.empty(); parent = parent_of(parent)) {
      if (std::binary_search(made.begin(), made.end(), parent)) wanted.push_back(parent);
    }
    for (auto directory = wanted.rbegin(); directory != wanted.rend(); ++directory) {
      auto parent = open_parent(root_.get(), *directory);
      if (!parent) return parent.error();
      if (::mkdirat(parent->get(), name_of_path(*directory).c_str(), 0755) != 0 && errno != EEXIST) {
        return io_error("cannot create the directory " + *directory);
      }
    }
    return {};
  }

  Result<void> stage_link(const Step& step) {
    if (::symlinkat(step.write->after.content.c_str(), step.parent->get(), step.temporary.c_str()) != 0) {
      return io_error("cannot stage the link " + step.write->path);
    }
    return {};
  }

  Result<void> stage_file(const Step& step) {
    const std::string& what = step.write->path;
    Fd file(::openat(step.parent->get(), step.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                     0600));
    if (!file) return io_error("cannot stage " + what);
    if (auto written = write_all_bytes(file.get(), step.write->after.content, what); !written) return written;
    if (auto kept = keep_ownership(step, file.get()); !kept) return kept;
    if (journal_.entries.size() <= kFewFiles && ::fsync(file.get()) != 0) return io_error("cannot fsync " + what);
    return {};
  }

  /// Owner, mode and attributes of the file it replaces; a new file takes its directory's owner.
  Result<void> keep_ownership(const Step& step, int file) {
    const std::string& what = step.write->path;
    const FileImage& after = step.write->after;
    struct stat owner {};
    const bool replaces = step.write->before.kind == ImageKind::file;
    Fd old;
    if (replaces) {
      old = Fd(::openat(step.parent->get(), step.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
      if (!old || ::fstat(old.get(), &owner) != 0)
        return Error{ErrorKind::stale, what + ": changed since it was reviewed"};
      if (owner.st_nlink > 1) {
        return Error{ErrorKind::symlink_or_device_refused,
                     what + ": has " + std::to_string(owner.st_nlink) +
                         " hard links; replacing it would leave the others behind. Break the link first"};
      }
      if (auto copied = copy_attributes(old.get(), file, what); !copied) return copied;
    } else if (::fstat(step.parent->get(), &owner) != 0) {
      return io_error("cannot stat the directory of " + what);
    }
    if (::geteuid() == 0 && ::fchown(file, owner.st_uid, owner.st_gid) != 0) return io_error("cannot chown " + what);
    const mode_t executable = (git_mode(after) == 0100755) ? 0111 : 0;
    const mode_t base = replaces ? (owner.st_mode & 07666u) : 0644u;
    // Execute permission goes where read permission is, as git does on checkout.
    const mode_t mode = base | (executable & ((base & 0444u) >> 2));
    const bool same = replaces && git_mode(step.write->before) == git_mode(after);
    if (::fchmod(file, same ? (owner.st_mode & 07777u) : mode) != 0) return io_error("cannot chmod " + what);
    return {};
  }

  Result<void> move(Step& step) {
    const FileWrite& write = *step.write;
    const Error stale{ErrorKind::stale, write.path + ": changed since it was reviewed; nothing was written"};
    if (!write.before.exists()) {
      if (!write.after.exists()) return {};
      if (rename_beside(step.parent->get(), step.temporary, step.name, RENAME_NOREPLACE) != 0) {
        return errno == EEXIST ? stale : io_error("cannot create " + write.path);
      }
      step.moved = true;
      return {};
    }
    const bool exchange = write.after.exists();
    const int renamed = exchange ? rename_beside(step.parent->get(), step.temporary, step.name, RENAME_EXCHANGE)
                                 : rename_beside(step.parent->get(), step.name, step.temporary, RENAME_NOREPLACE);
    if (renamed != 0) return errno == ENOENT ? stale : io_error("cannot replace " + write.path);
    step.moved = true;
    const auto displaced = read_image(step.parent->get(), step.temporary, write.path);
    if (!displaced || fingerprint(*displaced) != fingerprint(write.before)) return stale;
    return {};
  }

  Result<void> commit() {
    for (const auto& [path, directory] : parents_) {
      if (::fsync(directory->get()) != 0) return io_error("cannot fsync the directory " + path);
    }
    journal_.committed = true;
    if (auto saved = save_journal(journal_directory_, journal_); !saved) {
      journal_.committed = false;
      return saved;
    }
    for (const auto& step : steps_) {
      if (step.write->before.exists()) ::unlinkat(step.parent->get(), step.temporary.c_str(), 0);
    }
    remove_journal(journal_directory_, journal_.id);
    return {};
  }

  void roll_back() {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) undo(*step);
    for (auto directory = journal_.made_directories.rbegin(); directory != journal_.made_directories.rend();
         ++directory) {
      const auto parent = open_parent(root_.get(), *directory);
      if (parent) ::unlinkat(parent->get(), name_of_path(*directory).c_str(), AT_REMOVEDIR);
    }
    if (journaled_) remove_journal(journal_directory_, journal_.id);
  }

  void undo(Step& step) {
    const bool had = step.write->before.exists();
    const bool has = step.write->after.exists();
    if (step.moved && had && has) rename_beside(step.parent->get(), step.temporary, step.name, RENAME_EXCHANGE);
    if (step.moved && had && !has) rename_beside(step.parent->get(), step.temporary, step.name, RENAME_NOREPLACE);
    if (step.moved && !had) rename_beside(step.parent->get(), step.name, step.temporary, RENAME_NOREPLACE);
    if (has) ::unlinkat(step.parent->get(), step.temporary.c_str(), 0);
  }

  std::string root_path_, journal_directory_;
  WriteJournal journal_;
  bool journaled_ = false;
  Fd root_;
  std::map<std::string, std::shared_ptr<const Fd>> parents_;  ///< by path
  std::vector<Step> steps_;
};

/// Puts one path of an interrupted transaction back; false if it is neither old nor new.
bool restore(int dir, const JournalEntry& entry) {
  const std::string name = name_of_path(entry.path);
  const auto there = read_image(dir, name, entry.path);
  const auto beside = read_image(dir, entry.temporary, entry.path);
  if (!there || !beside) return false;
  const std::string now = fingerprint(*there);
  if (now == entry.before) {
    if (beside->exists()) ::unlinkat(dir, entry.temporary.c_str(), 0);
    return true;
  }
  if (now != entry.after) return false;
  if (entry.before == "absent") return ::unlinkat(dir, name.c_str(), 0) == 0;
  if (fingerprint(*beside) != entry.before) return false;
  const unsigned flags = entry.after == "absent" ? RENAME_NOREPLACE : RENAME_EXCHANGE;
  if (rename_beside(dir, entry.temporary, name, flags) != 0) return false;
  if (flags == RENAME_EXCHANGE) ::unlinkat(dir, entry.temporary.c_str(), 0);
  return true;
}

/// Removes what a finished transaction left beside the file; only an exact old image is ever removed.
void finish(int dir, const JournalEntry& entry) {
  const auto beside = read_image(dir, entry.temporary, entry.path);
  if (beside && fingerprint(*beside) == entry.before) ::unlinkat(dir, entry.temporary.c_str(), 0);
}

}  // namespace

Result<WriteRecord> run_write_transaction(const std::string& root, const std::vector<FileWrite>& writes,
                                          const std::string& journal_directory) {
  return Transaction(root, journal_directory).run(writes);
}

std::vector<std::string> recover_transaction(const WriteJournal& journal, const std::string& journal_directory) {
  std::vector<std::string> problems;
  const auto root = open_root(journal.root);
  if (!root) return {journal.root + ": the workspace of an interrupted apply is gone; its journal is kept"};
  for (auto entry = journal.entries.rbegin(); entry != journal.entries.rend(); ++entry) {
    const auto parent = open_parent(root->get(), entry->path);
    if (!parent) continue;  // its directory was never made
    if (journal.committed) {
      finish(parent->get(), *entry);
    } else if (!restore(parent->get(), *entry)) {
      problems.push_back(journal.root + "/" + entry->path + ": changed after an interrupted apply; left as it is (" +
                         entry->temporary + " beside it may hold the other version)");
    }
  }
  if (!problems.empty()) return problems;
  if (!journal.committed) {
    for (auto made = journal.made_directories.rbegin(); made != journal.made_directories.rend(); ++made) {
      const auto parent = open_parent(root->get(), *made);
      if (parent) ::unlinkat(parent->get(), name_of_path(*made).c_str(), AT_REMOVEDIR);
    }
  }
  remove_journal(journal_directory, journal.id);
  return problems;
}

}  // namespace escrow::server

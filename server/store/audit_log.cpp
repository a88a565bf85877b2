#include "server/store/audit_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "server/clock.h"
#include "server/hash.h"
#include "server/store/json_member.h"
#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

namespace json = boost::json;

const std::string kGenesis(64, '0');

struct Tail {
  std::string last_line;  ///< without its newline; empty for an empty file
  std::int64_t seq = 0;   ///< of the last line that can be read
  bool torn = false;      ///< the file does not end in a newline
};

Result<std::string> read_at(int fd, off_t start, off_t end, const std::string& file) {
  std::string bytes(static_cast<std::size_t>(end - start), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = ::pread(fd, bytes.data() + got, bytes.size() - got, start + static_cast<off_t>(got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot read " + file);
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

std::optional<json::object> entry_of(const std::string& line) {
  boost::system::error_code error;
  auto value = parse_stored(line, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::int64_t sequence_of(const std::string& line) {
  const auto entry = entry_of(line);
  const auto* seq = entry ? entry->if_contains("seq") : nullptr;
  return seq != nullptr && seq->is_int64() ? seq->get_int64() : 0;
}

/// The number of the last line of these that is an entry; nothing if none is.
std::optional<std::int64_t> last_seq(const std::string& lines) {
  for (std::size_t end = lines.size(); end > 0;) {
    const std::size_t before = lines.rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    if (const std::int64_t seq = sequence_of(lines.substr(begin, end - begin)); seq > 0) return seq;
    end = before == std::string::npos ? 0 : before;
  }
  return std::nullopt;
}

/// Backwards, twice as far each time: most lines are short, and none is ever cut.
Result<Tail> read_tail(int fd, off_t size, const std::string& file) {
  Tail tail;
  for (off_t span = 4096;; span *= 2) {
    const off_t start = size > span ? size - span : 0;
    auto bytes = read_at(fd, start, size, file);
    if (!bytes) return bytes.error();
    if (bytes->empty()) return tail;
    tail.torn = bytes->back() != '\n';
    if (!tail.torn) bytes->pop_back();
    const std::size_t line = bytes->rfind('\n');
    const auto seq = last_seq(*bytes);
    if (start > 0 && (line == std::string::npos || !seq)) continue;
    tail.last_line = bytes->substr(line == std::string::npos ? 0 : line + 1);
    tail.seq = seq.value_or(0);
    return tail;
  }
}

std::string hash_of_line(const std::string& line) {
  return line.empty() ? kGenesis : sha256_hex(line);
}

/// Calls `visit(line, ended by a newline)` for each line.
template <class Visit>
void for_each_line(const std::string& bytes, Visit visit) {
  std::size_t begin = 0;
  while (begin < bytes.size()) {
    const std::size_t end = bytes.find('\n', begin);
    const bool whole = end != std::string::npos;
    visit(bytes.substr(begin, (whole ? end : bytes.size()) - begin), whole);
    begin = whole ? end + 1 : bytes.size();
  }
}

/// Builds the lines to append, each chained to the one before.
class Chain {
 public:
  explicit Chain(const Tail& tail) : previous_(tail.last_line), seq_(tail.seq) {
    if (!tail.torn) return;
    // A writer died in the middle of a line. It is closed, chained like any other, and named.
    text_ = "\n";
    add("torn", {{"note", "the line before this one was cut off"}});
  }

  void add(const std::string& event, const json::object& fields) {
    json::object entry{{"seq", ++seq_}, {"time", now_ms()}, {"event", event}, {"prev", hash_of_line(previous_)}};
    for (const auto& field : fields) entry[field.key()] = field.value();
    previous_ = json::serialize(entry);
    text_ += previous_ + '\n';
  }

  std::string take() { return std::exchange(text_, {}); }

 private:
  std::string previous_, text_;
  std::int64_t seq_;
};

struct Locked {
  Fd fd;
  off_t size = 0;
};

/// The file that bears the name, locked: another process may have renamed the one we opened while we waited for it.
Result<Locked> open_locked(const std::string& file) {
  while (true) {
    Locked out{Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600)), 0};
    if (!out.fd) return io_error("cannot open " + file);
    while (::flock(out.fd.get(), LOCK_EX) != 0)
      if (errno != EINTR) return io_error("cannot lock " + file);
    struct stat held {
    }, named{};
    if (::fstat(out.fd.get(), &held) != 0) return io_error("cannot stat " + file);
    if (!S_ISREG(held.st_mode)) return Error{ErrorKind::io, file + ": is not a regular file"};
    if (::stat(file.c_str(), &named) != 0 || named.st_ino != held.st_ino || named.st_dev != held.st_dev) continue;
    out.size = held.st_size;
    return out;
  }
}

constexpr std::string_view kFullSuffix = ".jsonl";

/// `audit-000012.jsonl` beside `audit.jsonl` → 12.
std::optional<unsigned> number_of_full(const std::string& name, const std::string& stem) {
  if (!name.starts_with(stem + "-") || !name.ends_with(kFullSuffix)) return std::nullopt;
  const std::string digits = name.substr(stem.size() + 1, name.size() - stem.size() - 1 - kFullSuffix.size());
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return static_cast<unsigned>(std::stoul(digits));
}

std::map<unsigned, std::string> full_files(const std::filesystem::path& file) {
  std::map<unsigned, std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(file.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    if (const auto number = number_of_full(at->path().filename().string(), file.stem().string()))
      found.emplace(*number, at->path().string());
  }
  return found;
}

std::string full_name(const std::filesystem::path& file, unsigned number) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 6 ? 6 - digits.size() : 0, '0');
  return (file.parent_path() / (file.stem().string() + "-" + digits)).string() + std::string(kFullSuffix);
}

/// Renames the full file away. Whoever waits for its lock finds that it lost its name, and opens the successor.
Result<void> set_aside(const std::string& file, const Locked& full) {
  if (::fsync(full.fd.get()) != 0) return io_error("cannot fsync " + file);
  const auto others = full_files(file);
  const std::string aside = full_name(file, others.empty() ? 1 : others.rbegin()->first + 1);
  if (::rename(file.c_str(), aside.c_str()) != 0) return io_error("cannot rename " + file);
  return {};
}

/// What the next entry follows: the last line of this file, or, where it has none yet, of the one before it.
Result<Tail> tail_before(const Locked& log, const std::string& file) {
  if (log.size > 0) return read_tail(log.fd.get(), log.size, file);
  const auto others = full_files(file);
  if (others.empty()) return Tail{};
  const std::string& name = others.rbegin()->second;
  const Fd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return io_error("cannot open " + name);
  auto tail = read_tail(fd.get(), info.st_size, name);
  if (tail) tail->torn = false;  // it was closed before it was set aside
  return tail;
}

/// Keeps writers out while the log is read, so that no half-written line and no half-done rotation is seen. Holds
/// nothing where there is no log yet.
Fd hold_still(const std::string& file) {
  while (true) {
    Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd) return fd;
    while (::flock(fd.get(), LOCK_SH) != 0)
      if (errno != EINTR) return fd;
    struct stat held {
    }, named{};
    if (::fstat(fd.get(), &held) != 0 || ::stat(file.c_str(), &named) != 0) return fd;
    if (held.st_ino == named.st_ino && held.st_dev == named.st_dev) return fd;
  }
}

std::string text_of_value(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

/// True if the path, or the end of a path, stands somewhere in the value.
bool names_file(const json::value& value, const std::string& file) {
  if (value.is_string()) {
    const std::string_view text = value.get_string();
    return text == file || (text.ends_with(file) && text[text.size() - file.size() - 1] == '/');
  }
  if (const auto* list = value.if_array())
    return std::any_of(list->begin(), list->end(), [&](const json::value& one) { return names_file(one, file); });
  if (const auto* object = value.if_object())
    return std::any_of(object->begin(), object->end(),
                       [&](const auto& member) { return names_file(member.value(), file); });
  return false;
}

}  // namespace

bool AuditFilter::wants(const json::object& entry) const {
  const auto* time = entry.if_contains("time");
  const std::int64_t at = time != nullptr && time->is_int64() ? time->get_int64() : 0;
  if ((since_ms && at < *since_ms) || (until_ms && at >= *until_ms)) return false;
  const auto is = [&](const char* key, const std::string& wanted) {
    const auto* found = entry.if_contains(key);
    return found != nullptr && text_of_value(*found) == wanted;
  };
  if (!agent.empty() && !is("agent", agent) && !is("agentId", agent)) return false;
  if (!kind.empty() && !is("event", kind) && !text_at(entry, "event").starts_with(kind + ".")) return false;
  if (!review.empty() && !is("reviewId", review)) return false;
  return file.empty() ||
         std::any_of(entry.begin(), entry.end(), [&](const auto& member) { return names_file(member.value(), file); });
}

AuditLog::AuditLog(AuditLog&& other) noexcept
    : file_(std::move(other.file_)), rotate_bytes_(other.rotate_bytes_), dirty_(std::exchange(other.dirty_, false)) {}

AuditLog::~AuditLog() {
  (void)sync();  // too late to tell anybody
}

Result<void> AuditLog::append(const std::string& event, const json::object& fields) {
  if (auto made = make_private_directory(std::filesystem::path(file_).parent_path().string()); !made) return made;
  while (true) {
    auto log = open_locked(file_);
    if (!log) return log.error();
    auto tail = tail_before(*log, file_);
    if (!tail) return tail.error();
    Chain chain(*tail);
    const bool full = log->size >= rotate_bytes_;
    if (!full) chain.add(event, fields);
    dirty_ = true;
    // A torn line is accounted for in its own file, before that is set aside.
    if (auto written = write_all_bytes(log->fd.get(), chain.take(), file_); !written || !full) return written;
    if (auto moved = set_aside(file_, *log); !moved) return moved;
  }
}

Result<void> AuditLog::sync() {
  if (!dirty_) return {};
  const Fd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd || ::fdatasync(fd.get()) != 0) return io_error("cannot fsync " + file_);
  dirty_ = false;
  return {};
}

std::vector<std::string> AuditLog::files() const {
  std::vector<std::string> out;
  for (const auto& [number, name] : full_files(file_)) out.push_back(name);
  struct stat info {};
  if (::lstat(file_.c_str(), &info) == 0) out.push_back(file_);
  return out;
}

namespace {

/// Follows the chain line by line, through all files, and stops at the first link that does not hold.
class Verifier {
 public:
  Verifier(AuditLog::Verification& result, const std::string& anchor) : result_(result), anchor_(anchor) {}

  void file(const std::string& path, const std::string& bytes) {
    name_ = path;
    line_ = 0;
    for_each_line(bytes, [&](const std::string& line, bool whole) {
      if (result_.problem.empty()) visit(line, whole);
    });
  }

  void finish() {
    if (!cut_.empty()) result_.note = cut_ + ": cut off, because a writer died; the next entry will close it";
    if (result_.problem.empty() && damaged_) complain("damaged, and no entry accounts for it");
    if (result_.problem.empty() && !anchor_.empty() && !anchored_) {
      result_.problem = result_.entries == 0
                            ? "the log is empty, and the anchor is of one that was not: it was removed or replaced"
                            : "the anchor does not occur: the log was rewritten or cut";
    }
    result_.ok = result_.problem.empty();
  }

 private:
  void complain(const std::string& what) { result_.problem = name_ + ":" + std::to_string(line_) + ": " + what; }

  void visit(const std::string& line, bool whole) {
    ++line_;
    if (!cut_.empty()) return complain("follows a line that was cut off");
    if (!whole) {
      cut_ = name_ + ":" + std::to_string(line_);
      return;
    }
    if (const auto entry = entry_of(line)) {
      check(*entry);
    } else if (damaged_) {
      complain("not an audit entry");
    } else {
      damaged_ = true;
    }
    previous_ = line;
    if (!damaged_) result_.last_hash = hash_of_line(line);
    anchored_ = anchored_ || hash_of_line(line) == anchor_;
  }

  void check(const json::object& entry) {
    ++result_.entries;
    if (text_at(entry, "prev") != hash_of_line(previous_)) {
      complain(line_ == 1 && previous_.empty() ? "is not the first entry of the log: what stood before it is missing"
                                               : "does not follow the line before it (changed, removed or reordered)");
    } else if (damaged_ && text_at(entry, "event") != "torn") {
      complain("follows a damaged line that no entry accounts for");
    }
    damaged_ = false;
  }

  AuditLog::Verification& result_;
  const std::string& anchor_;
  std::string name_, previous_, cut_;
  std::size_t line_ = 0;
  bool damaged_ = false, anchored_ = false;
};

}  // namespace

AuditLog::Verification AuditLog::verify(const std::string& anchor) const {
  Verification result;
  Verifier verifier(result, anchor);
  const Fd held = hold_still(file_);
  for (const auto& name : files()) {
    const auto bytes = read_file(name);
    if (!bytes) {
      result.problem = bytes.error().message;
      return result;
    }
    verifier.file(name, *bytes);
  }
  verifier.finish();
  return result;
}

std::vector<json::object> AuditLog::tail(std::size_t max, const AuditFilter& filter) const {
  std::vector<json::object> newest_first;
  const Fd held = hold_still(file_);
  const auto names = files();
  for (auto name = names.rbegin(); name != names.rend() && newest_first.size() < max; ++name) {
    const auto bytes = read_file(*name);
    if (!bytes) continue;
    std::vector<json::object> wanted;
    for_each_line(*bytes, [&](const std::string& line, bool) {
      if (auto entry = entry_of(line); entry && filter.wants(*entry)) wanted.push_back(std::move(*entry));
    });
    for (auto entry = wanted.rbegin(); entry != wanted.rend() && newest_first.size() < max; ++entry)
      newest_first.push_back(std::move(*entry));
  }
  return {std::make_move_iterator(newest_first.rbegin()), std::make_move_iterator(newest_first.rend())};
}

AuditFollower::AuditFollower(std::string file) : file_(std::move(file)) {
  if (open_file()) ::lseek(fd_.get(), 0, SEEK_END);
}

bool AuditFollower::open_file() {
  fd_ = Fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return static_cast<bool>(fd_);
}

void AuditFollower::read_rest(std::vector<json::object>& entries) {
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(fd_.get(), buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    rest_.append(buffer, static_cast<std::size_t>(got));
  }
  const std::size_t end = rest_.rfind('\n');
  if (end == std::string::npos) return;
  for_each_line(rest_.substr(0, end + 1), [&](const std::string& line, bool) {
    if (auto entry = entry_of(line)) entries.push_back(std::move(*entry));
  });
  rest_.erase(0, end + 1);
}

std::vector<json::object> AuditFollower::read_new() {
  std::vector<json::object> entries;
  struct stat held {
  }, named{};
  if (!fd_ && !open_file()) return entries;
  // Looked at before reading: what a rename leaves in the old file is then read to its end.
  const bool there = ::stat(file_.c_str(), &named) == 0 && ::fstat(fd_.get(), &held) == 0;
  read_rest(entries);
  if (!there || (named.st_ino == held.st_ino && named.st_dev == held.st_dev)) return entries;
  rest_.clear();
  if (open_file()) read_rest(entries);
  return entries;
}

}  // namespace escrow::server

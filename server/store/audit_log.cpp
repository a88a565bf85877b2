#include "server/store/audit_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "server/clock.h"
#include "server/hash.h"
#include "server/store/atomic_file.h"
#include "server/store/json_member.h"
#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

const std::string kGenesis(64, '0');

/// Longest line `append` looks for when it reads the last one back.
constexpr off_t kMaxLine = 1 << 20;

struct Tail {
  std::string last_line;  ///< without its newline; empty for an empty file
  bool torn = false;      ///< the file does not end in a newline
};

Result<Tail> read_tail(int fd, const std::string& file) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return io_error("cannot stat " + file);
  const off_t start = info.st_size > kMaxLine ? info.st_size - kMaxLine : 0;
  std::string bytes(static_cast<std::size_t>(info.st_size - start), '\0');
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), start);
  if (got < 0) return io_error("cannot read " + file);
  bytes.resize(static_cast<std::size_t>(got));
  Tail tail;
  if (bytes.empty()) return tail;
  tail.torn = bytes.back() != '\n';
  if (!tail.torn) bytes.pop_back();
  tail.last_line = bytes.substr(bytes.rfind('\n') + 1);
  return tail;
}

std::int64_t sequence_of(const std::string& line) {
  boost::system::error_code error;
  const auto value = parse_stored(line, error);
  if (error || !value.is_object()) return 0;
  const auto* seq = value.get_object().if_contains("seq");
  return seq != nullptr && seq->is_int64() ? seq->get_int64() : 0;
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

std::string line_of(const std::string& event, std::int64_t seq, const std::string& previous,
                    const boost::json::object& fields) {
  boost::json::object entry{{"seq", seq}, {"time", now_ms()}, {"event", event}, {"prev", hash_of_line(previous)}};
  for (const auto& field : fields) entry[field.key()] = field.value();
  return boost::json::serialize(entry);
}

}  // namespace

Result<void> AuditLog::append(const std::string& event, const boost::json::object& fields) {
  if (auto made = make_private_directory(std::filesystem::path(file_).parent_path().string()); !made) return made;
  Fd fd(::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return io_error("cannot open " + file_);
  if (::flock(fd.get(), LOCK_EX) != 0) return io_error("cannot lock " + file_);
  auto tail = read_tail(fd.get(), file_);
  if (!tail) return tail.error();
  std::string text;
  std::string previous = tail->last_line;
  std::int64_t seq = sequence_of(previous) + 1;
  if (tail->torn) {
    // A writer died in the middle of a line. It is closed, chained like any other, and named.
    text += '\n';
    const std::string note = line_of("torn", seq++, previous, {{"note", "the line before this one was cut off"}});
    text += note + '\n';
    previous = note;
  }
  text += line_of(event, seq, previous, fields) + '\n';
  return write_all_bytes(fd.get(), text, file_);
}

AuditLog::Verification AuditLog::verify(const std::string& anchor) const {
  Verification result;
  const auto bytes = read_file(file_);
  if (!bytes) {
    result.ok = bytes.error().kind == ErrorKind::not_found && anchor.empty();
    if (!result.ok) result.problem = bytes.error().message;
    return result;
  }
  std::string previous;
  bool anchored = anchor.empty();
  bool torn = false;  ///< the line before was cut off; only an entry that says so may follow
  for_each_line(*bytes, [&](const std::string& line, bool whole) {
    if (!result.problem.empty()) return;
    ++result.entries;
    const std::string where = "line " + std::to_string(result.entries) + ": ";
    boost::system::error_code error;
    const auto value = parse_stored(line, error);
    if (!whole) {
      result.problem = where + "cut off (a writer died; the next entry will close it)";
    } else if (error || !value.is_object()) {
      if (torn) result.problem = where + "not an audit entry";
      torn = true;
    } else {
      const auto& entry = value.get_object();
      if (text_at(entry, "prev") != hash_of_line(previous)) {
        result.problem = where + "does not follow the line before it (changed, removed or reordered)";
      } else if (torn && text_at(entry, "event") != "torn") {
        result.problem = where + "follows a damaged line that no entry accounts for";
      }
      torn = false;
    }
    previous = line;
    result.last_hash = hash_of_line(line);
    anchored = anchored || result.last_hash == anchor;
  });
  if (result.problem.empty() && torn) result.problem = "the last line is damaged";
  if (result.problem.empty() && !anchored) result.problem = "the anchor does not occur: the log was rewritten or cut";
  result.ok = result.problem.empty();
  return result;
}

std::vector<boost::json::object> AuditLog::tail(std::size_t max) const {
  std::vector<boost::json::object> entries;
  const auto bytes = read_file(file_);
  if (!bytes) return entries;
  for_each_line(*bytes, [&](const std::string& line, bool) {
    boost::system::error_code error;
    auto value = parse_stored(line, error);
    if (!error && value.is_object()) entries.push_back(value.get_object());
  });
  if (entries.size() > max) entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(max));
  return entries;
}

}  // namespace escrow::server

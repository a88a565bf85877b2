#include "engine/patch_apply.h"

#include <utility>

namespace escrow::engine {
namespace {

Error mismatch(const FilePatch& file, std::size_t line, std::string_view what) {
  return {ErrorKind::mismatch, file.path() + ":" + std::to_string(line) + ": " + std::string(what) +
                                   "; the file is not the one this change was made for"};
}

/// The old line the hunk stands on: a count of zero means "after line N".
std::size_t first_old_line(const Hunk& hunk) {
  return std::size_t{hunk.old_start} + (hunk.old_count == 0 ? 1 : 0);
}

/// Copies the base line by line and lets hunks replace what they name.
class Applier {
 public:
  Applier(std::string_view base, const FilePatch& file) : rest_(base), file_(file) { out_.reserve(base.size()); }

  Result<void> apply(const Hunk& hunk) {
    const std::size_t first = first_old_line(hunk);
    if (first < line_) return mismatch(file_, first, "hunks overlap or are out of order");
    while (line_ < first) {
      if (rest_.empty()) return mismatch(file_, first, "the file ends before this hunk");
      put_line(take_line());
    }
    for (const DiffLine& line : hunk.lines) {
      if (auto done = apply_line(line); !done) return done.error();
    }
    return {};
  }

  Result<std::string> finish() {
    if (!rest_.empty()) put_line(rest_);
    if (joined_) return mismatch(file_, line_, "a line follows the one that was to end the file without a newline");
    return std::move(out_);
  }

 private:
  Result<void> apply_line(const DiffLine& line) {
    if (line.kind != LineKind::added) {
      if (rest_.empty()) return mismatch(file_, line_, "the file ends inside this hunk");
      const std::string_view found = take_line();
      const bool terminated = found.ends_with('\n');
      if (found.substr(0, found.size() - (terminated ? 1 : 0)) != line.text) {
        return mismatch(file_, line_ - 1, "this line reads differently");
      }
      if (terminated == line.no_newline) return mismatch(file_, line_ - 1, "the final newline differs");
    }
    if (line.kind != LineKind::removed) put_line(line.no_newline ? line.text : line.text + '\n');
    return {};
  }

  std::string_view take_line() {
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end == std::string_view::npos ? end : end + 1);
    rest_.remove_prefix(line.size());
    ++line_;
    return line;
  }

  /// `text` is a line with its newline, or the unterminated last one: nothing may follow that.
  void put_line(std::string_view text) {
    joined_ = joined_ || open_;
    open_ = !text.ends_with('\n');
    out_ += text;
  }

  std::string_view rest_;
  const FilePatch& file_;
  std::string out_;
  std::size_t line_ = 1;
  bool open_ = false;    // the last line put has no newline
  bool joined_ = false;  // something was put after such a line
};

Result<void> check_applicable(const FilePatch& file, const std::set<std::size_t>& hunks) {
  if (file.combined) {
    return Error{ErrorKind::unsupported, file.path() + ": a combined diff describes a merge and cannot be applied"};
  }
  if (file.binary) {
    return Error{ErrorKind::unsupported, file.path() + ": binary changes are not applied from a patch"};
  }
  if (!hunks.empty() && *hunks.rbegin() >= file.hunks.size()) {
    return Error{ErrorKind::invalid_argument, file.path() + ": there is no hunk " + std::to_string(*hunks.rbegin())};
  }
  return {};
}

std::set<std::size_t> all_hunks(const FilePatch& file) {
  std::set<std::size_t> all;
  for (std::size_t i = 0; i < file.hunks.size(); ++i) all.insert(all.end(), i);
  return all;
}

/// Moves the hunk's new side to where it lands when the hunks before it shifted the file by `shift` lines.
void move_new_side(Hunk& hunk, std::int64_t shift) {
  const auto first = static_cast<std::int64_t>(first_old_line(hunk)) + shift;
  const std::int64_t start = hunk.new_count == 0 ? first - 1 : first;
  const auto moved = static_cast<std::uint32_t>(start < 0 ? 0 : start);
  const std::uint32_t by = moved - hunk.new_start;  // modulo 2^32, undone by the additions below
  hunk.new_start = moved;
  hunk.raw.clear();
  for (DiffLine& line : hunk.lines) {
    if (line.new_line != 0) line.new_line += by;
  }
}

}  // namespace

Result<std::string> apply_hunks(std::string_view base, const FilePatch& file, const std::set<std::size_t>& hunks) {
  if (auto fits = check_applicable(file, hunks); !fits) return fits.error();
  Applier applier(base, file);
  for (const std::size_t index : hunks) {
    if (auto done = applier.apply(file.hunks[index]); !done) return done.error();
  }
  return applier.finish();
}

Result<std::string> apply_file_patch(std::string_view base, const FilePatch& file) {
  return apply_hunks(base, file, all_hunks(file));
}

FilePatch select_hunks(const FilePatch& file, const std::set<std::size_t>& hunks) {
  FilePatch out = file;
  out.hunks.clear();
  std::int64_t shift = 0;
  for (const std::size_t index : hunks) {
    if (index >= file.hunks.size()) break;
    Hunk hunk = file.hunks[index];
    if (!file.combined) move_new_side(hunk, shift);
    shift += std::int64_t{hunk.new_count} - std::int64_t{hunk.old_count};
    out.hunks.push_back(std::move(hunk));
  }
  return out;
}

}  // namespace escrow::engine

#include "engine/diff_header.h"

#include <array>

#include "engine/line_cursor.h"
#include "engine/quoted_path.h"

namespace escrow::engine {
namespace {

constexpr std::string_view kDevNull = "/dev/null";

/// Takes `prefix` off the front of `text` if it stands there.
bool eat(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::string> read_whole_name(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  const auto quoted = read_quoted_path(text);
  if (!quoted || quoted->consumed != text.size()) return std::nullopt;
  return quoted->path;
}

std::optional<std::uint32_t> read_mode(std::string_view text) {
  if (text.size() != 6) return std::nullopt;
  std::uint32_t mode = 0;
  for (char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    mode = mode * 8 + static_cast<std::uint32_t>(c - '0');
  }
  return mode;
}

/// Git's one-letter prefixes: a/ b/, and the mnemonic i w c o of `diff.mnemonicPrefix`.
bool has_prefix(std::string_view name) {
  return name.size() > 2 && name[1] == '/' && std::string_view("abiwco12").find(name[0]) != std::string_view::npos;
}

std::string_view strip(std::string_view name) {
  return has_prefix(name) ? name.substr(2) : name;
}

/// Two names carry prefixes if both have one and they differ; equal ones are a directory of a `--no-prefix` diff.
bool are_prefixed(std::string_view a, std::string_view b) {
  return has_prefix(a) && has_prefix(b) && a[0] != b[0];
}

/// The names of an unquoted `diff --git` line are told apart only where both halves are the same name.
void split_equal_halves(std::string_view rest, HeaderFacts& facts) {
  const std::size_t middle = rest.size() / 2;
  if (rest.size() % 2 == 0 || rest[middle] != ' ') return;
  const std::string_view left = rest.substr(0, middle), right = rest.substr(middle + 1);
  if (left != right && !(are_prefixed(left, right) && strip(left) == strip(right))) return;
  facts.git_old = left;
  facts.git_new = right;
}

void read_quoted_pair(std::string_view rest, HeaderFacts& facts) {
  std::string_view second;
  if (const auto first = read_quoted_path(rest)) {
    facts.git_old = first->path;
    second = rest.substr(first->consumed);
    if (!eat(second, " ")) facts.malformed = true;
  } else {
    const std::size_t gap = rest.find(" \"");
    if (gap == std::string_view::npos) return;
    facts.git_old = rest.substr(0, gap);
    second = rest.substr(gap + 1);
  }
  facts.git_new = read_whole_name(second);
  if (!facts.git_new) facts.malformed = true;
}

/// `index 1234..5678 100644`, or for a merge `index 12,34..56`.
void read_index(std::string_view text, HeaderFacts& facts) {
  const std::size_t blank = text.find(' ');
  const std::string_view range = text.substr(0, blank);
  if (blank != std::string_view::npos) {
    const auto mode = read_mode(text.substr(blank + 1));
    if (!mode) facts.malformed = true;
    if (!facts.old_mode) facts.old_mode = mode;
    if (!facts.new_mode) facts.new_mode = mode;
  }
  const std::size_t dots = range.find("..");
  if (dots != std::string_view::npos) facts.contents_differ = range.substr(0, dots) != range.substr(dots + 2);
}

/// `mode 100644,100755..100755` of a merge.
void read_merge_mode(std::string_view text, HeaderFacts& facts) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    facts.malformed = true;
    return;
  }
  facts.old_mode = read_mode(text.substr(0, text.substr(0, dots).find(',')));
  facts.new_mode = read_mode(text.substr(dots + 2));
}

void set_mode(std::string_view text, std::optional<std::uint32_t>& slot, HeaderFacts& facts) {
  // A merge lists one mode a parent: the first stands for all.
  slot = read_mode(text.substr(0, text.find(',')));
  if (!slot) facts.malformed = true;
}

void set_name(std::string_view text, std::optional<std::string>& slot, HeaderFacts& facts) {
  slot = read_whole_name(text);
  if (!slot) facts.malformed = true;
}

struct Names {
  std::string old_name, new_name;  // empty: does not exist on that side
  bool known = false;
};

Names names_of_git_line(const HeaderFacts& facts) {
  if (!facts.git_old || !facts.git_new) return {};
  const bool prefixed = are_prefixed(*facts.git_old, *facts.git_new);
  if (!prefixed) return {*facts.git_old, *facts.git_new, true};
  return {std::string(strip(*facts.git_old)), std::string(strip(*facts.git_new)), true};
}

/// `diff -ru old/x new/x`: different roots, the same file below.
bool differ_in_root_only(std::string_view a, std::string_view b) {
  const std::size_t x = a.find('/'), y = b.find('/');
  return x != std::string_view::npos && y != std::string_view::npos && x > 0 && y > 0 && a.substr(x) == b.substr(y);
}

Names names_of_sides(const HeaderFacts& facts) {
  if (!facts.minus || !facts.plus) return {};
  const std::string &minus = *facts.minus, &plus = *facts.plus;
  if (minus == kDevNull) return {"", std::string(strip(plus)), plus != kDevNull};
  if (plus == kDevNull) return {std::string(strip(minus)), "", true};
  if (are_prefixed(minus, plus)) return {std::string(strip(minus)), std::string(strip(plus)), true};
  if (minus != plus && differ_in_root_only(minus, plus)) {
    const std::string name = plus.substr(plus.find('/') + 1);
    return {name, name, true};
  }
  // A plain `diff -u file.orig file`: the name that stays is the new one.
  return {facts.git_new ? minus : plus, plus, true};
}

Names settle_names(const HeaderFacts& facts) {
  if (facts.from && facts.to) return {*facts.from, *facts.to, true};
  const Names sides = names_of_sides(facts);
  return sides.known ? sides : names_of_git_line(facts);
}

std::string find_contradiction(const HeaderFacts& facts, const Names& names) {
  const Names git = names_of_git_line(facts);
  if (!git.known || facts.from) return "";
  const bool old_fits = names.old_name.empty() || names.old_name == git.old_name;
  const bool new_fits = names.new_name.empty() || names.new_name == git.new_name;
  if (old_fits && new_fits) return "";
  return "the names on the `diff --git` line and on the `---`/`+++` lines differ";
}

bool is_type_change(const FilePatch& file) {
  constexpr std::uint32_t kTypeMask = 0170000;
  return file.old_mode && file.new_mode && (*file.old_mode & kTypeMask) != (*file.new_mode & kTypeMask);
}

FileStatus settle_status(const HeaderFacts& facts, const FilePatch& file) {
  if (facts.is_new || facts.minus == kDevNull) return FileStatus::added;
  if (facts.is_deleted || facts.plus == kDevNull) return FileStatus::deleted;
  if (facts.is_rename) return FileStatus::renamed;
  if (facts.is_copy) return FileStatus::copied;
  return is_type_change(file) ? FileStatus::type_changed : FileStatus::modified;
}

}  // namespace

void read_diff_line(std::string_view line, HeaderFacts& facts) {
  std::string_view rest = without_cr(line);
  if (eat(rest, "diff --cc ") || eat(rest, "diff --combined ")) {
    set_name(rest, facts.git_old, facts);
    facts.git_new = facts.git_old;
    return;
  }
  eat(rest, "diff --git ");
  if (rest.find('"') != std::string_view::npos) {
    read_quoted_pair(rest, facts);
  } else {
    split_equal_halves(rest, facts);
  }
}

bool read_extended_line(std::string_view line, HeaderFacts& facts) {
  std::string_view rest = without_cr(line);
  if (eat(rest, "old mode ")) return set_mode(rest, facts.old_mode, facts), true;
  if (eat(rest, "new mode ")) return set_mode(rest, facts.new_mode, facts), true;
  if (eat(rest, "new file mode ")) return facts.is_new = true, set_mode(rest, facts.new_mode, facts), true;
  if (eat(rest, "deleted file mode ")) return facts.is_deleted = true, set_mode(rest, facts.old_mode, facts), true;
  if (eat(rest, "rename from ")) return facts.is_rename = true, set_name(rest, facts.from, facts), true;
  if (eat(rest, "rename to ")) return facts.is_rename = true, set_name(rest, facts.to, facts), true;
  if (eat(rest, "copy from ")) return facts.is_copy = true, set_name(rest, facts.from, facts), true;
  if (eat(rest, "copy to ")) return facts.is_copy = true, set_name(rest, facts.to, facts), true;
  if (eat(rest, "index ")) return read_index(rest, facts), true;
  if (eat(rest, "mode ")) return read_merge_mode(rest, facts), true;
  return rest.starts_with("similarity index ") || rest.starts_with("dissimilarity index ");
}

std::optional<std::string> read_name_line(std::string_view line) {
  std::string_view rest = without_cr(line).substr(4);
  if (rest.starts_with('"')) {
    const auto quoted = read_quoted_path(rest);
    if (!quoted) return std::nullopt;
    return quoted->path;
  }
  rest = rest.substr(0, rest.find('\t'));
  if (rest.empty()) return std::nullopt;
  return std::string(rest);
}

std::string settle_header(const HeaderFacts& facts, FilePatch& file) {
  const Names names = settle_names(facts);
  file.old_path = names.old_name;
  file.new_path = names.new_name;
  file.old_mode = facts.old_mode;
  file.new_mode = facts.new_mode;
  file.status = settle_status(facts, file);
  if (file.status == FileStatus::added) {
    file.old_path.clear();
    file.old_mode.reset();
  }
  if (file.status == FileStatus::deleted) {
    file.new_path.clear();
    file.new_mode.reset();
  }
  if (facts.malformed) return "a header line of this file cannot be read";
  if (!names.known || file.path().empty()) return "the header does not say which file it is about";
  if (facts.is_rename || facts.is_copy) {
    if (!facts.from || !facts.to) return "a rename or copy needs both `from` and `to`";
  }
  return find_contradiction(facts, names);
}

}  // namespace escrow::engine

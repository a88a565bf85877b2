// library: escrow_engine
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "engine/diff.h"
#include "engine/evaluate.h"
#include "engine/patch_apply.h"

using namespace escrow::engine;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Printing gives back what was read without trouble, and what was printed reads back the same.
void check_round_trip(std::string_view text, const ParsedPatch& parsed) {
  const std::string printed = print_diff(parsed.patch);
  if (!parsed.issues.empty()) return;
  require(printed == text);
  require(parse_diff(printed).patch == parsed.patch);
}

/// Whatever the base, applying ends in a text or a reason; a selection of all hunks changes nothing.
void check_apply(std::string_view base, const FilePatch& file) {
  const Result<std::string> whole = apply_file_patch(base, file);
  std::set<std::size_t> all;
  for (std::size_t i = 0; i < file.hunks.size(); ++i) all.insert(i);
  const Result<std::string> selected = apply_file_patch(base, select_hunks(file, all));
  require(whole.has_value() == selected.has_value());
  if (whole) require(*whole == *selected);
  if (!all.empty()) (void)apply_hunks(base, file, {0});
}

/// The old side of the patch, as far as its hunks show it: a base that fits where there are no gaps.
std::string old_side(const FilePatch& file) {
  std::string base;
  for (const Hunk& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines) {
      if (line.kind != LineKind::added) base += line.text + (line.no_newline ? "" : "\n");
    }
  }
  return base;
}

void check_judgement(const ParsedPatch& parsed) {
  const PatchEvaluation result = evaluate(parsed, {}, Policy{});
  require(result.risk.score >= 0 && result.risk.score <= 100);
  int points = 0;
  for (const Contribution& share : result.risk.explain) points += share.points;
  require(points == result.risk.score);
  if (!parsed.issues.empty()) require(result.lane == Lane::high);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParsedPatch parsed = parse_diff(text);
  check_round_trip(text, parsed);
  for (const FilePatch& file : parsed.patch.files) {
    check_apply(text, file);
    check_apply(old_side(file), file);
  }
  check_judgement(parsed);
  return 0;
}

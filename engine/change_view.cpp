#include "engine/change_view.h"

#include <algorithm>

#include "engine/lazy_regex.h"

namespace escrow::engine {
namespace {

const LazyRegex& user_input() {
  static const LazyRegex regex(
      R"re(\b(?:req|request)s?\.(?:query|body|params|param|headers|cookies|files?|form|args|data|json|values|GET|POST|url|path|get_json|getParameter|Query|Form|Body|input|all|user_agent)\b)re"
      R"re(|\bparams(?:\[|\.|\.fetch)|\bargv\b|\$_(?:GET|POST|REQUEST|COOKIE|FILES|SERVER)\b|@(?:PathVariable|RequestParam|RequestBody|QueryParam|FormParam)\b)re"
      R"re(|\bgetParameter\(|\.URL\.Query\(\)|\.(?:Post)?FormValue\(|\bc\.(?:Param|Query|PostForm|Params|FormValue)\(|\bctx\.(?:query|params|request|body|args)\b|\bmux\.Vars\()re"
      R"re(|\binput\(\s*["')]|\bsys\.stdin\b|\bevent\.(?:body|queryStringParameters|pathParameters)\b|\blocation\.(?:hash|search|href)\b|\b[sS]earchParams\b|\bos\.Args\b|\benv::args\b)re"
      R"re(|\bRequest\.(?:Query|Form|Params|QueryString)\b|\bHttpServletRequest\b|\breadline\(\)|\bgets\.chomp|\bphp://input|\buser_?[iI]nput\b|\bFromQuery\b|\bweb::(?:Query|Path|Form)\b)re");
  return regex;
}

}  // namespace

void HunkView::classify() const {
  // Both sides are read apart: a comment opened by a removed line does not cover the added ones.
  SourceText before(language_), now(language_);
  kinds_.reserve(lines().size());
  for (const DiffLine& line : lines()) {
    switch (line.kind) {
      case LineKind::context:
        before.classify(line.text);
        kinds_.push_back(now.classify(line.text));
        break;
      case LineKind::added:
        kinds_.push_back(now.classify(line.text));
        break;
      case LineKind::removed:
        kinds_.push_back(before.classify(line.text));
        break;
    }
  }
}

const KindMask& HunkView::kinds(std::size_t index) const {
  if (kinds_.empty() && !lines().empty()) classify();
  return kinds_[index];
}

TopicMask HunkView::topics(std::size_t index) const {
  constexpr TopicMask kAsked = TopicMask{1} << 31;  // above every topic; lines no rule asks about cost nothing
  if (topics_.empty()) topics_.resize(lines().size());
  TopicMask& mask = topics_[index];
  if (mask == 0) mask = topics_of(lines()[index].text) | kAsked;
  return mask;
}

std::string HunkView::text_of(std::size_t index) const {
  std::string out = lines()[index].text;
  const KindMask& mask = kinds(index);
  if (mask.find(static_cast<char>(TextKind::comment)) == KindMask::npos) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (mask[i] == static_cast<char>(TextKind::comment)) out[i] = ' ';
  }
  return out;
}

bool HunkView::has_user_input() const {
  if (!user_input_) {
    user_input_ =
        user_input().matches(hunk_->section) || std::any_of(lines().begin(), lines().end(), [](const DiffLine& line) {
          return line.kind != LineKind::removed && user_input().matches(line.text);
        });
  }
  return *user_input_;
}

bool HunkView::has_removed() const {
  return std::any_of(lines().begin(), lines().end(),
                     [](const DiffLine& line) { return line.kind == LineKind::removed; });
}

ChangeView view_change(const Patch& patch) {
  ChangeView view;
  view.files.reserve(patch.files.size());
  for (const FilePatch& file : patch.files) {
    FileView& out = view.files.emplace_back();
    out.patch = &file;
    out.facts = classify_path(file.path());
    out.hunks.reserve(file.hunks.size());
    for (const Hunk& hunk : file.hunks) out.hunks.emplace_back(hunk, out.facts.language);
    const bool is_code = out.facts.has(kSource | kConfig) && !out.facts.has(kTest | kDocs | kGenerated);
    view.changes_code = view.changes_code || (is_code && !file.hunks.empty());
  }
  return view;
}

}  // namespace escrow::engine

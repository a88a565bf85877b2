#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/removed_protection.h"
#include "engine/rules.h"
#include "engine/text.h"

// A protection is gone when a removed line held it and nothing on the new side of the file holds it any more. Three
// ways are looked for, in blocks of neighbouring removed and added lines:
//   1. a guard word (`require_role`, `MAX_LEN`, `escape`) that the new side no longer has;
//   2. the same condition with another operator (`!` dropped, `==` for `!=`, `>` for `>=`, `||` for `&&`);
//   3. a condition replaced by a constant, or a constant returned before it.
// A guard that moved is still there, and a guard that went with the whole function guarded nothing any more.

namespace escrow::engine {
namespace {

constexpr int kGenericWeight = 35;

// --- Words -----------------------------------------------------------------------------------------------------------

/// Names of access checks: decorators, middleware, predicates, comparisons of signatures.
const LazyRegex& auth_word() {
  static const LazyRegex regex(
      R"re((?i)@\w*(?:login|auth\w*|permission\w*|roles?|admin|staff\w*|user_passes_test|secured|rolesallowed|preauthorize|postauthorize|useguards|jwt|token|requires?_\w+)\w*|\[Authorize\b|\b(?:require|requires|ensure|check|assert|verify|validate|enforce|must_?be|protect|guard)_?(?:auth\w*|login\w*|logged_?in|role\w*|perm\w*|admin\w*|owner\w*|access|scope\w*|tenant\w*|member\w*|token|jwt|signature|sig|session|user|csrf\w*|api_?key|2fa|mfa|otp|password|identity)\w*)re"
      R"re(|\breq(?:uires?|uired)?_?(?:sign_?in|log_?in|token|admin|auth|owner|role|perm|user|repo_?\w*|scope|member)\w*|\bUtf8\.isEqual\b|\bsafe_str_cmp\b|\bconstant_?time_?\w*|\b(?:is|has|can|may)_?(?:auth\w*|logged_?in|admin\w*|owner\w*|perm\w*|role\w*|access\w*|allowed|staff|superuser|member\w*|scope\w*|authority)\w*|\b(?:can|may)_?(?:edit|view|read|write|delete|manage|update)\w*|\bauthenticate\w*|\bauthori[sz]e\w*|\b\w*[aA]uth(?:entication|orization|enticated)?_?(?:middleware|guard|filter|required|check|handler|interceptor)\w*|\b\w*(?:guard|login|permission|role|admin|acl|jwt|session)_?middleware\w*|\bpassport\.authenticate|\bjwt\.verify|\bjwt_required|\bcompare_digest|\bConstantTimeCompare|\btimingSafeEqual|\bhmac\.Equal|\bMessageDigest\.isEqual|\bfixed_length_secure_compare|\bsecure_compare|\bpassword_verify|\bcheck_password\w*|\bcheckpw\b|\bbcrypt\.compare\w*|\bCompareHashAndPassword|\bVerifyPKCS1v15|\bSecurityContext\b)re"
      R"re(|\bpermission_classes\b|\bIsAuthenticated\b|\bIsAdminUser\b|\b(?:401|403)\b|\bForbidden(?:Error|Exception)?\b|\bUnauthorized(?:Error|Exception|AccessException)?\b|\bAuth(?:entication|orization)(?:Error|Exception)\b|\bAccessDenied\w*|\bPermissionDenied\w*|\bPermissionError\b|\bNotAuthorized\w*|\bUnauthenticated\b|\bErrForbidden\b|\bErrUnauthorized\b|\bsecurity(?:Schemes)?:\s|\bpundit\b|\bverify_authorized\b|\bload_and_authorize_resource\b|\bacl\.\w+|\benforcer?\.enforce\b|\bbefore_action\s+:(?:authenticate|require|authorize|login|ensure|check|set_current_user)\w*)re");
  return regex;
}

/// Who asks, where it narrows what is read or changed.
const LazyRegex& identity_in_query() {
  static const LazyRegex regex(
      R"re((?i)\b(?:current_?user|request\.user|req\.user|ctx\.user|session\.user|g\.user|user\.id|user_?id|owner_?id|owner|tenant_?id|tenant|account_?id|org_?id|principal)\b)re");
  return regex;
}
const LazyRegex& query_or_condition() {
  static const LazyRegex regex(
      R"re((?i)\bwhere\b|\bfilter(?:_by)?\s*\(|\bfind\w*\s*\(|\.get\s*\(|get_object_or_404|===?|!==?|\bif\b|\bunless\b|\bscope)re");
  return regex;
}

/// Names of checks on data: escaping, bounds, limits, forgery protection.
const LazyRegex& validation_word() {
  static const LazyRegex regex(
      R"re((?i)\b(?:html_?)?escape\w*|\bsaniti[sz]e\w*|\bstrip_tags\b|\bhtmlspecialchars\b|\bhtmlentities\b|\bbleach\.\w+|\bDOMPurify\b|\bencodeURI(?:Component)?\b|\burlencode\b|\bshlex\.quote\b|\bescapeshell\w+|\bquote_ident\b|\bparameterize\b|\bsecure_filename\b|\bbasename\b|\bfilepath\.(?:Base|Clean|Rel|IsLocal)\b|\brealpath\b|\bis_relative_to\b|\bcanonicali[sz]e\w*|\bgetCanonicalPath\b|\b(?:URI|URL|Uri)\s*\([^)]*\)\.(?:host(?:name)?|origin)\b|\.(?:host(?:name)?|origin)\s*[!=]==?\s*\w+\.(?:host(?:name)?|origin)\b|\bPath\.GetFileName\b|\blastPathComponent\b|\bsafe_?join\b)re"
      R"re(|\bvalidat\w*|\bis_?valid\w*|\bclean\s*\(|\bfull_clean\b|\bschema\.(?:parse|validate|safeParse)\w*|\b(?:zod|joi|ajv|yup)\b|\bcheck_?bounds\b|\bbounds?_?check\w*|\bclamp\b|\brate_?limit\w*|\bthrottl\w*|\blimiter\b|\bcsrf\w*|\bprotect_from_forgery\b|\bhelmet\b|\banti_?forgery\w*|\bX-Frame-Options\b|\bContent-Security-Policy\b|\bStrict-Transport-Security\b|\bnosniff\b|\b(?:is_?|set_?)?http_?only\b|\bsame_?site\b|\bsecure:\s*true|\bchecksum\b|\bverify_?(?:checksum|hash|integrity)\w*|\bverify\w*\s*\(|\bsetrlimit\b|\bLimitReader\b|\bMaxBytesReader\b|\bPreparedStatement\b|\bmaxLength\b|\bminLength\b|@(?:NotNull|NotBlank|Size|Valid|Min|Max|Pattern|Validated|Email)\b|\bvalidates?(?:_\w+)?\s+:)re"
      R"re(|\btrusted_?(?:hosts?|proxies|origins?|types?)\b|\b\w*(?:white|black|allow|block|deny)_?list\w*\b|\bis_?(?:loopback|private|internal|local|blocked\w*|same_?(?:site|origin)|url_?same_?origin|safe|trusted|malicious|traversal|absolute)\w*|__proto__|\bplainObjects\b|(?:gsub|sub|replace(?:All)?|preg_replace|ReplaceAllString|translate)!?\s*\(\s*(?:/|["'`]|re\.compile\(r?["']|r["'])\[\^|["'](?:--|--end-of-options)["']|\btrim_?(?:start|left|prefix)\b[^)]*["'`](?:--?|\.+|/)["'`]|\bset\w*Deadline\b|\b(?:read|write|handshake|header|idle|request|connect)_?timeout\b|\bredact\w*|\bmask_?(?:secret|token|pass\w*|auth\w*|sensitive)\w*)re");
  return regex;
}

/// Names of limits; they protect where they are compared or handed on with a value, not wherever they are mentioned.
const LazyRegex& limit_word() {
  static const LazyRegex regex(
      R"re((?i)\b\w*max_?(?:len(?:gth)?|size|bytes|attempts|retries|depth|frame|items|upload\w*)\b|(?-i:\bMAX_[A-Z_]+\b|\b[A-Z_]+_MAX\b)|\b(?:\w+_)?limits?\b)re");
  return regex;
}
const LazyRegex& limiting_use() {
  static const LazyRegex regex(
      R"re((?i)[<>]|\bmin\s*\(|\bmax\s*\(|\bclamp|["']?\s*(?:=>|[:=])\s*["']?(?:\d|(?-i:[A-Z_]{3,}\b|\w+\.MAX))|\(\s*(?:\w+\s*=\s*)?\d+\s*\)|\b(?:raise|throw|return\s+err)|\blimit\s*\()re");
  return regex;
}

const LazyRegex& deny() {
  static const LazyRegex regex(
      R"re((?i)\b(?:throw|raise|abort|reject|deny|die|panic|bail)\b|\breturn\s+(?:-\w+|false|nil|null|None|err\w*|Err\b|fmt\.Errorf|errors\.|\w*Err\w*|NULL|0|http|res|json|jsonify|render|redirect|make_response|Response|reply|c\.\w+|\(?["'])|\breturn\s*;?\s*$|\bcontinue\b|\bErr\(|\bsys\.exit|\bexit\(|\bgoto\s+\w*(?:err|fail|out)|\b(?:401|403|400|413|422|429)\b|Forbidden|Unauthorized|Denied|BadRequest|\bbail!|\bensure!|\berror\()re");
  return regex;
}

const LazyRegex& comparison_guard() {
  static const LazyRegex regex(
      R"re(\b(?:if|elif|unless|guard|assert\w*|require|ensure|check|BUG_ON|WARN_ON|Preconditions\.\w+)\b.*(?:[<>]=?|===?|!==?|&&|\bnot\s+in\b|\bis\s+None\b|\bnot\b|!\w)|\bassert\w*\s*\()re");
  return regex;
}

/// A condition of any shape, and a refusal that is no mere early return.
const LazyRegex& any_guard() {
  static const LazyRegex regex(R"re(^\s*\}?\s*(?:if|elif|elsif|else\s+if|unless|guard)\b)re");
  return regex;
}
const LazyRegex& strong_refusal() {
  static const LazyRegex regex(
      R"re((?i)^\s*(?:throw|raise|abort|die|panic|bail|reject)\b|\breturn\s+(?:[^;]*\b(?:\w*errorf?|err\w+|exception|forbidden|unauthorized|denied|invalid\w*|bad\w*request|reject\w*)\b|false\b|-E[A-Z]+|-1\b|C_ERR|fail\b)|\b(?:raise|throw|abort|die|panic|reject|bail!?)\s*[( ]|\bexit\s*\(|\b(?:40[0-9]|413|422|429)\b|\bStatus(?:Forbidden|Unauthorized|BadRequest|NotFound)\b|\b(?:not_?found|forbidden|bad_?request|unauthorized)\s*\()re");
  return regex;
}

/// Sizes and limits: what a bounds check compares.
const LazyRegex& bound_word() {
  static const LazyRegex regex(
      R"re((?i)\b\w*(?:len|length|size|count|cap|capacity|limit|max|min|bound|offset|index|idx|depth|remaining|avail|end|num|quota|width|height)\w*\b.*[<>]|[<>].*\b\w*(?:len|length|size|count|cap|capacity|limit|max|min|bound|offset|index|depth|remaining|avail|quota)\w*\b|\bsizeof\b|\bnull\b|\bNULL\b|\bnullptr\b|overflow)re");
  return regex;
}

const LazyRegex& definition() {
  static const LazyRegex regex(
      R"re(^\s*(?:(?:export|default|public|private|protected|static|async|override|virtual|inline|final|pub(?:\([^)]*\))?|unsafe|extern|const|constexpr|abstract|internal|open|suspend)\s+)*(?:def|func|function\*?|fn|class|interface|struct|impl|module|trait|fun|sub)\b|^\s*(?:public|private|protected|static|internal)\s+[\w<>\[\], ?]+\s+\w+\s*\(|^[A-Za-z_][\w\s*&:<>]*\b\w+\s*\([^;]*\)\s*\{?\s*$|^\s*(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>|^\s*(?:async\s+)?\w+\s*\([^)]*\)\s*\{\s*$)re");
  return regex;
}

const LazyRegex& control_word() {
  static const LazyRegex regex(R"re(^\s*(?:if|for|while|switch|catch|else|return|elif|unless|until|do|try)\b)re");
  return regex;
}

/// Names of functions whose answer decides who may.
const LazyRegex& deciding_name() {
  static const LazyRegex regex(
      R"re((?i)\b\w*(?:allow|permit|authori[sz]|authenticat|can_|can[A-Z]|is_?admin|is_?owner|is_?auth|is_?member|is_?allowed|is_?trusted|has_?perm|has_?role|has_?access|has_?scope|check_?access|check_?perm|check_?auth|check_?token|check_?role|check_?sig|check_?pass|verify|login|access|guard|acl|require_)\w*)re");
  return regex;
}

const LazyRegex& auth_path() {
  static const LazyRegex regex(
      R"re((?:^|[/_.\-])(?:auth\w*|acl|permissions?|access|security|polic(?:y|ies)|guards?|login|sessions?|rbac|iam|oauth\d?|sso|jwt|admin)(?:[/_.\-]|$))re");
  return regex;
}

// --- Lines and blocks
// --------------------------------------------------------------------------------------------------

constexpr std::size_t kNone = std::string::npos;

/// Words that a text for people holds as easily as code does.
bool is_prose_word(std::string_view word) {
  static const LazyRegex regex(R"re((?i)^(?:escap|valid|limit|clean|saniti|max|quote|basename|clamp|throttl)\w*$)re");
  return regex.matches(word);
}

std::vector<std::string> words_in(const LazyRegex& regex, std::string_view text, const KindMask& kinds) {
  std::vector<std::string> words;
  std::size_t begin = 0, end = 0;
  for (std::size_t from = 0; regex.find(text, from, begin, end); from = std::max(end, begin + 1)) {
    const std::string_view word = text.substr(begin, end - begin);
    if (kinds[begin] == static_cast<char>(TextKind::string) && is_prose_word(word)) continue;
    words.emplace_back(word);
  }
  return words;
}

bool is_definition(std::string_view text) {
  return definition().matches(text) && !control_word().matches(text);
}

/// The first removed line of the block that begins a function; worked out once.
std::size_t first_removed_definition(const HunkView& hunk, const ChangedBlock& block) {
  if (!block.first_definition) {
    const auto found = std::find_if(block.removed.begin(), block.removed.end(),
                                    [&](std::size_t i) { return is_definition(hunk.lines()[i].text); });
    block.first_definition = found == block.removed.end() ? kNone : *found;
  }
  return *block.first_definition;
}

/// What a definition is called: the word before its parameters.
std::string_view name_of_definition(std::string_view text) {
  static const LazyRegex regex(R"re((\w+[?!]?)\s*(?:<[^(]*>)?\s*\()re");
  return regex.capture(text);
}

/// The function's head is only rewritten: its name stands in a definition that the block adds.
bool is_redefined(const HunkView& hunk, const ChangedBlock& block, std::size_t definition) {
  const std::string_view name = name_of_definition(hunk.lines()[definition].text);
  return !name.empty() && std::any_of(block.added.begin(), block.added.end(), [&](std::size_t i) {
    return is_definition(hunk.lines()[i].text) && name_of_definition(hunk.lines()[i].text) == name;
  });
}

/// The guard went with what it guarded: its function begins before it among the same removed lines, or, where nothing
/// is added, on the line below a decorator.
bool is_gone_with_function(const HunkView& hunk, const ChangedBlock& block, std::size_t index) {
  const std::size_t first = first_removed_definition(hunk, block);
  if (first == kNone) return false;
  if (first < index) return !is_redefined(hunk, block, first);
  const auto next = std::upper_bound(block.removed.begin(), block.removed.end(), index);
  return block.added.empty() && next != block.removed.end() && is_definition(hunk.lines()[*next].text);
}

/// The line of the definition that encloses line `index` on the new side, or git's section text.
std::string enclosing_definition(const HunkView& hunk, std::size_t index) {
  constexpr std::size_t kFarthest = 60;  // lines; a bound keeps a hostile hunk from being read over and over
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < kFarthest; ++seen) {
    if (hunk.lines()[i].kind != LineKind::removed && is_definition(hunk.lines()[i].text)) return hunk.lines()[i].text;
  }
  return hunk.hunk().section;
}

}  // namespace

std::vector<ChangedBlock> blocks_of(const HunkView& hunk) {
  std::vector<ChangedBlock> blocks;
  bool open = false;
  for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
    const LineKind kind = hunk.lines()[i].kind;
    if (kind == LineKind::context) {
      open = false;
      continue;
    }
    if (!open) blocks.emplace_back();
    open = true;
    (kind == LineKind::removed ? blocks.back().removed : blocks.back().added).push_back(i);
  }
  return blocks;
}

bool denies_soon(const HunkView& hunk, std::size_t index, LineKind other_side) {
  int seen = 0;
  for (std::size_t i = index; i < hunk.lines().size() && seen < 3; ++i) {
    if (hunk.lines()[i].kind == other_side) continue;
    if (deny().matches(hunk.text_of(i))) return true;
    ++seen;
  }
  return false;
}

bool is_about_access(const FileView& file, const HunkView& hunk, std::size_t index) {
  return auth_path().matches(file.facts.lower) || auth_word().matches(hunk.text_of(index)) ||
         deciding_name().matches(enclosing_definition(hunk, index));
}

bool is_condition(std::string_view text) {
  static const LazyRegex regex(
      R"re(\b(?:if|elif|unless|while|for|return|assert\w*|guard|when|require)\b|&&|\|\||\?|==|!=)re");
  return regex.matches(text);
}

namespace {

// --- 1. Guards that are gone
// -------------------------------------------------------------------------------------------

struct Loss {
  std::string_view rule;
  std::string message;
};

/// What protecting words are about.
enum class WordKind : std::size_t { access, identity, validation, limit };
constexpr std::size_t kWordKinds = 4;

struct WordSource {
  Topic topic;
  const LazyRegex& (*regex)();
};
constexpr std::array<WordSource, kWordKinds> kWordSources{{{Topic::access, auth_word},
                                                           {Topic::identity, identity_in_query},
                                                           {Topic::validation, validation_word},
                                                           {Topic::validation, limit_word}}};

/// The words of that kind in one line, as written.
std::vector<std::string> words_of(WordKind kind, const HunkView& hunk, std::size_t index) {
  const WordSource& source = kWordSources[static_cast<std::size_t>(kind)];
  if (!hunk.is_about(index, source.topic)) return {};
  return words_in(source.regex(), hunk.text_of(index), hunk.kinds(index));
}

/// The protecting words of the lines that some hunks add: where a guard may have moved to, and what may stand in its
/// place. Looked for when first asked; most removed lines protect nothing.
class AddedWords {
 public:
  explicit AddedWords(std::span<const HunkView> hunks) : hunks_(hunks) {}

  /// In lower case.
  const std::set<std::string>& of(WordKind kind) {
    auto& words = words_[static_cast<std::size_t>(kind)];
    if (!words) words = collect(kind);
    return *words;
  }

 private:
  std::set<std::string> collect(WordKind kind) const {
    std::set<std::string> out;
    for (const HunkView& hunk : hunks_) {
      for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
        if (hunk.lines()[i].kind != LineKind::added) continue;
        for (const std::string& word : words_of(kind, hunk, i)) out.insert(lower(word));
      }
    }
    return out;
  }

  std::span<const HunkView> hunks_;
  std::array<std::optional<std::set<std::string>>, kWordKinds> words_;
};

/// The first word of the line that no added line of the file has; none if the hunk adds another of the same sort, which
/// is a change of mechanism.
std::optional<std::string> lost_word(WordKind kind, const HunkView& hunk, std::size_t index, AddedWords& in_hunk,
                                     AddedWords& in_file) {
  std::vector<std::string> words = words_of(kind, hunk, index);
  if (words.empty() || !in_hunk.of(kind).empty()) return std::nullopt;
  for (std::string& word : words) {
    if (in_file.of(kind).count(lower(word)) == 0) return std::move(word);
  }
  return std::nullopt;
}

bool adds_lines(const HunkView& hunk) {
  return std::any_of(hunk.lines().begin(), hunk.lines().end(),
                     [](const DiffLine& line) { return line.kind == LineKind::added; });
}

/// What a removed line protected that the new side of the file does not.
std::optional<Loss> find_loss(const HunkView& hunk, std::size_t index, AddedWords& in_hunk, AddedWords& in_file) {
  const auto lost = [&](WordKind kind) { return lost_word(kind, hunk, index, in_hunk, in_file); };
  if (const auto word = lost(WordKind::access))
    return Loss{"auth-check-removed", "`" + *word + "` is no longer checked"};
  const std::string text = hunk.text_of(index);
  if (hunk.is_about(index, Topic::identity) && query_or_condition().matches(text) && adds_lines(hunk)) {
    if (const auto who = lost(WordKind::identity))
      return Loss{"auth-check-removed", "what is read is no longer narrowed to `" + *who + "`"};
  }
  if (!hunk.is_about(index, Topic::validation)) return std::nullopt;
  auto word = lost(WordKind::validation);
  if (!word && limiting_use().matches(text)) word = lost(WordKind::limit);
  if (word) return Loss{"validation-removed", "`" + *word + "` is gone"};
  return std::nullopt;
}

/// Lines that say nothing about what is checked: imports, definitions, blank ones.
bool is_beside_the_point(const std::string& text) {
  static const LazyRegex import_line(
      R"re(^\s*(?:import|from|use|using|require|#include|const\s+\{?[\w\s,]+\}?\s*=\s*require)\b)re");
  return text.find_first_not_of(" \t\r") == std::string::npos || import_line.matches(text) || is_definition(text);
}

/// A parameter that lets only some callers in (`user = Depends(get_current_admin)`), of a function that stays.
bool injects_guard(std::string_view text) {
  static const LazyRegex regex(
      R"re((?i)\b(?:Depends|Security|Inject)\s*\(\s*[\w.]*(?:user|admin|auth|perm|role|token|login|scope|owner|api_?key)\w*|@(?:AuthenticationPrincipal|CurrentUser|LoggedIn|AuthUser)\b)re");
  return regex.matches(text);
}

void find_lost_injection(const FileView& file, const HunkView& hunk, const ChangedBlock& block, Findings& findings) {
  for (const std::size_t i : block.removed) {
    const bool held = hunk.is_about(i, Topic::access) && injects_guard(hunk.text_of(i));
    if (!held || block.added.empty()) continue;
    const bool gone_with_function = is_definition(hunk.lines()[i].text) && !is_redefined(hunk, block, i);
    const bool stays = std::any_of(hunk.lines().begin(), hunk.lines().end(), [](const DiffLine& line) {
      return line.kind == LineKind::added && injects_guard(line.text);
    });
    if (gone_with_function || stays) continue;
    return findings.add(file, {.rule = "auth-check-removed",
                               .line = hunk.lines()[i].new_line,
                               .message = "the function no longer asks who calls it"});
  }
}

void find_lost_guards(const FileView& file, const HunkView& hunk, const ChangedBlock& block, AddedWords& in_hunk,
                      AddedWords& in_file, Findings& findings) {
  std::set<std::string_view> told;
  for (const std::size_t i : block.removed) {
    const bool is_candidate =
        hunk.is_about(i, Topic::access) || hunk.is_about(i, Topic::identity) || hunk.is_about(i, Topic::validation);
    if (!is_candidate || is_beside_the_point(hunk.lines()[i].text) || is_gone_with_function(hunk, block, i)) continue;
    const auto loss = find_loss(hunk, i, in_hunk, in_file);
    if (!loss || !told.insert(loss->rule).second) continue;
    findings.add(file, {.rule = loss->rule, .line = hunk.lines()[i].new_line, .message = loss->message});
    if (told.size() == 2) return;  // both rules that a lost guard can break
  }
}

/// The removed line at `position` of the block begins a guard: a comparison that refuses, or any condition whose own
/// refusal is gone with it.
bool is_removed_guard(const HunkView& hunk, const ChangedBlock& block, std::size_t position) {
  const std::size_t index = block.removed[position];
  const std::string text = hunk.text_of(index);
  if (comparison_guard().matches(text) && denies_soon(hunk, index, LineKind::added)) return true;
  static const LazyRegex same_line(R"re(^\s*(?:raise|throw|return|abort|fail|reject|next)\b.*\b(?:if|unless)\b)re");
  if (same_line.matches(text)) return strong_refusal().matches(text);
  if (!any_guard().matches(text)) return false;
  constexpr std::size_t kReach = 4;
  for (std::size_t i = position; i < block.removed.size() && i < position + kReach; ++i) {
    if (strong_refusal().matches(hunk.text_of(block.removed[i]))) return true;
  }
  return false;
}

/// The condition only asks whether something went wrong before it: handling of errors, no guard.
bool is_error_handling(std::string_view text) {
  static const LazyRegex regex(
      R"re((?i)\berr(?:or)?\w*\s*[!=]==?\s*(?:nil|null|0)|\bif\s*\(?\s*!?(?:\w*err(?:or)?|e|ex|ok)\s*\)?\s*[{:]?\s*$|errors\.(?:Is|As)\(|;\s*!?(?:err|ok)\b|\bif\s+let\s+Err)re");
  return regex.matches(text);
}

/// A call that refuses by itself: `findById(id).orElseThrow { … }`, `value ?: throw …`, `ensure!(…)`.
bool refuses_by_call(std::string_view text) {
  static const LazyRegex regex(
      R"re((?i)\bor_?else_?throw\b|\bget_?or_?throw\b|\bor_?raise\b|\brequire_?not_?(?:null|nil|none|blank|empty)\b|\bcheckNotNull\b|\brequireNonNull\w*|\?[?:]\s*(?:throw|return|raise)\b|\|\|\s*(?:throw|raise|die|abort)\b|\bor\s+(?:die|raise|throw)\b|\bok_or(?:_else)?\s*\(|\b(?:ensure|bail|assert)!\s*\(|\bthrow_?if\w*\b|\b(?:get_object_or_404|find_or_fail|findOrFail|firstOrFail|sole)\b)re");
  return regex.matches(text);
}

bool is_guard(const std::string& text) {
  return !is_error_handling(text) && (comparison_guard().matches(text) || any_guard().matches(text));
}

/// A guard by shape only: fewer comparisons than before in a hunk that shrinks, each of which refused something.
void find_fewer_guards(const FileView& file, const HunkView& hunk, Findings& findings) {
  if (file.facts.has(kTest)) return;
  std::size_t before = 0, after = 0, removed = 0, added = 0, first = 0;
  bool bounded = false;
  const std::vector<ChangedBlock> blocks = blocks_of(hunk);
  for (const ChangedBlock& block : blocks) {
    removed += block.removed.size();
    added += block.added.size();
    for (std::size_t position = 0; position < block.removed.size(); ++position) {
      const std::size_t i = block.removed[position];
      if (!hunk.is_about(i, Topic::condition)) continue;
      const std::string text = hunk.text_of(i);
      if (is_gone_with_function(hunk, block, i) || is_error_handling(text) || !is_removed_guard(hunk, block, position))
        continue;
      if (before++ == 0) first = i;
      bounded = bounded || bound_word().matches(text);
    }
    for (const std::size_t i : block.added)
      after += hunk.is_about(i, Topic::condition) && (is_guard(hunk.text_of(i)) || refuses_by_call(hunk.text_of(i)));
  }
  if (before <= after || added >= removed) return;
  const bool access = is_about_access(file, hunk, first) && auth_word().matches(hunk.text_of(first));
  if (access) {
    findings.add(file, {.rule = "auth-check-removed", .line = hunk.lines()[first].new_line});
  } else {
    findings.add(file, {.rule = "validation-removed",
                        .line = hunk.lines()[first].new_line,
                        .weight = bounded ? 0 : kGenericWeight,
                        .message = "a condition that refused something is gone"});
  }
}

// --- 2. The same condition with another operator
// -------------------------------------------------------------------------

struct Operators {
  std::string skeleton;  // the line without blanks, negations and with all operators alike
  std::string sequence;  // the operators in their order
};

Operators operators_of(std::string_view line) {
  Operators out;
  for (std::size_t i = 0; i < line.size();) {
    const std::string_view rest = line.substr(i);
    const auto take = [&](std::string_view token, char name) {
      out.sequence += name;
      if (name != '!') out.skeleton += name == '&' || name == '|' ? 'L' : 'C';
      i += token.size();
    };
    const bool word_start = i == 0 || line[i - 1] == ' ' || line[i - 1] == '(';
    if (rest[0] == ' ' || rest[0] == '\t')
      ++i;
    else if (rest.starts_with("!=="))
      take("!==", 'n');
    else if (rest.starts_with("==="))
      take("===", 'e');
    else if (rest.starts_with("!="))
      take("!=", 'n');
    else if (rest.starts_with("=="))
      take("==", 'e');
    else if (rest.starts_with("->")) {
      out.skeleton += "->";
      i += 2;
    } else if (rest.starts_with("=>")) {
      out.skeleton += "=>";
      i += 2;
    } else if (rest.starts_with(">="))
      take(">=", 'G');
    else if (rest.starts_with("<="))
      take("<=", 'S');
    else if (rest[0] == '>')
      take(">", 'g');
    else if (rest[0] == '<')
      take("<", 's');
    else if (rest.starts_with("&&"))
      take("&&", '&');
    else if (rest.starts_with("||"))
      take("||", '|');
    else if (word_start && rest.starts_with("and "))
      take("and", '&');
    else if (word_start && rest.starts_with("or "))
      take("or", '|');
    else if (word_start && rest.starts_with("not "))
      take("not", '!');
    else if (rest[0] == '!')
      take("!", '!');
    else
      out.skeleton += line[i++];
  }
  return out;
}

enum class OperatorChange { none, inverted, loosened_bound, loosened_logic };

/// What the condition decides: a guard of an error exit refuses, so that a weaker comparison lets more through; the
/// answer of `in_range()` accepts, so that a wider one does.
struct Deciding {
  bool refuses = false, loops = false, accepts = false;
};

OperatorChange compare_operators(const Operators& before, const Operators& now, const Deciding& decides) {
  if (before.skeleton != now.skeleton || before.sequence == now.sequence) return OperatorChange::none;
  const auto count = [](const std::string& sequence, char name) {
    return std::count(sequence.begin(), sequence.end(), name);
  };
  if (count(before.sequence, '!') != count(now.sequence, '!') ||
      count(before.sequence, 'e') != count(now.sequence, 'e'))
    return OperatorChange::inverted;
  if (before.sequence.size() != now.sequence.size()) return OperatorChange::none;
  for (std::size_t i = 0; i < before.sequence.size(); ++i) {
    const char from = before.sequence[i], to = now.sequence[i];
    if (from == to) continue;
    const bool narrower = (from == 'G' && to == 'g') || (from == 'S' && to == 's');
    const bool wider = (from == 's' && to == 'S') || (from == 'g' && to == 'G');
    if ((decides.refuses && narrower) || (decides.accepts && wider)) return OperatorChange::loosened_bound;
    if (decides.loops && from == 's' && to == 'S') return OperatorChange::loosened_bound;
    if ((from == 'g' || from == 'G') && (to == 's' || to == 'S')) return OperatorChange::inverted;
    if ((from == 's' || from == 'S') && (to == 'g' || to == 'G')) return OperatorChange::inverted;
    if (from == '|' && to == '&' && decides.refuses) return OperatorChange::loosened_logic;
    if (from == '&' && to == '|' && !decides.refuses) return OperatorChange::loosened_logic;
  }
  return OperatorChange::none;
}

void report_operator(const FileView& file, const HunkView& hunk, std::size_t added, OperatorChange change, bool refuses,
                     Findings& findings) {
  const std::uint32_t line = hunk.lines()[added].new_line;
  const bool access = is_about_access(file, hunk, added);
  switch (change) {
    case OperatorChange::none:
      return;
    case OperatorChange::inverted:
      if (access)
        findings.add(file, {.rule = "auth-check-removed", .line = line, .message = "an access check is inverted"});
      else if (refuses)
        findings.add(
            file,
            {.rule = "validation-removed", .line = line, .weight = kGenericWeight, .message = "a check is inverted"});
      return;
    case OperatorChange::loosened_bound:
      findings.add(
          file, {.rule = "validation-removed", .line = line, .message = "the comparison lets one more value through"});
      return;
    case OperatorChange::loosened_logic:
      if (access)
        findings.add(file,
                     {.rule = "auth-check-removed", .line = line, .message = "one of several conditions now suffices"});
      else if (refuses)
        findings.add(
            file,
            {.rule = "validation-removed", .line = line, .message = "several conditions are now needed to refuse"});
      return;
  }
}

/// `return i < n;` in a function whose name says that its answer is a bounds check.
bool answers_whether_it_fits(const HunkView& hunk, std::size_t index) {
  static const LazyRegex answer(R"re(^\s*return\b|=>\s*\S)re");
  static const LazyRegex name(
      R"re((?i)\b\w*(?:in_?range|in_?bounds|within|is_?valid|valid_?(?:index|offset|length|size)|fits|has_?room|contains_?(?:index|key|offset)|can_?(?:read|write|hold|fit)|is_?safe)\w*)re");
  return answer.matches(hunk.lines()[index].text) && name.matches(enclosing_definition(hunk, index));
}

void find_changed_operators(const FileView& file, const HunkView& hunk, const ChangedBlock& block, Findings& findings) {
  constexpr std::size_t kMaxBlock = 40;  // larger blocks are rewrites, and pairing is quadratic
  if (block.removed.size() > kMaxBlock || block.added.size() > kMaxBlock) return;
  std::vector<Operators> added;
  for (const std::size_t a : block.added) added.push_back(operators_of(hunk.text_of(a)));
  for (const std::size_t r : block.removed) {
    if (!hunk.is_about(r, Topic::condition)) continue;
    const std::string before = hunk.text_of(r);
    if (!is_condition(before)) continue;
    const Operators old_operators = operators_of(before);
    for (std::size_t k = 0; k < added.size(); ++k) {
      if (old_operators.skeleton != added[k].skeleton) continue;
      const std::size_t a = block.added[k];
      const std::string& now = hunk.lines()[a].text;
      Deciding decides;
      decides.refuses = denies_soon(hunk, a, LineKind::removed);
      decides.loops = now.find("for") != std::string::npos || now.find("while") != std::string::npos;
      decides.accepts = answers_whether_it_fits(hunk, a);
      const OperatorChange change = compare_operators(old_operators, added[k], decides);
      report_operator(file, hunk, a, change, decides.refuses, findings);
    }
  }
}

// --- 3. Constants
// ---------------------------------------------------------------------------------------------------------

bool is_constant_pass(std::string_view text) {
  static const LazyRegex regex(
      R"re(^\s*(?:return\s+)?(?:true|True|TRUE|nil|None|null|1|Ok\(\s*(?:\(\)|true)\s*\)|next\(\)|errors?\.nil|Promise\.resolve\((?:true)?\)|\(true,\s*nil\)|true,\s*nil|\{\s*return\s+true;?\s*\})\s*;?\s*$|^\s*(?:return\s+)?next\(\)\s*;?\s*$|^.*\{\s*return\s+(?:true|nil)\s*;?\s*\}\s*$|=>\s*true\s*[;,]?\s*$)re");
  return regex.matches(text);
}

bool is_empty_return(std::string_view text) {
  static const LazyRegex regex(R"re(^\s*(?:return|pass)\s*;?\s*$)re");
  return regex.matches(text);
}

/// What the function's name says it decides.
std::optional<std::string_view> rule_of_function(const FileView& file, const std::string& definition_line) {
  if (deciding_name().matches(definition_line) || auth_path().matches(file.facts.lower)) return "auth-check-removed";
  if (validation_word().matches(definition_line)) return "validation-removed";
  return std::nullopt;
}

/// A whole definition on one added line that was not there before decides nothing yet.
void find_constant_answers(const FileView& file, const HunkView& hunk, const ChangedBlock& block, Findings& findings) {
  constexpr std::size_t kLongestConstant = 120;  // `func allowed(u User) bool { return true }`
  for (const std::size_t a : block.added) {
    if (!hunk.is_about(a, Topic::constant) || hunk.lines()[a].text.size() > kLongestConstant) continue;
    const std::string text = hunk.text_of(a);
    const bool passes = is_constant_pass(text);
    if (!passes && !is_empty_return(text)) continue;
    const bool replaces = std::any_of(block.removed.begin(), block.removed.end(), [&](std::size_t r) {
      const std::string before = hunk.text_of(r);
      return !is_constant_pass(before) && before.find_first_of("(.=<>&|") != std::string::npos &&
             !is_definition(before);
    });
    // Or it stands first in the function, before the check.
    const bool leads = a > 0 && hunk.lines()[a - 1].kind == LineKind::context &&
                       is_definition(hunk.lines()[a - 1].text) && a + 1 < hunk.lines().size();
    if (!(replaces && passes) && !leads) continue;
    const auto rule = rule_of_function(file, enclosing_definition(hunk, a));
    if (rule)
      findings.add(file, {.rule = *rule, .line = hunk.lines()[a].new_line, .message = "the check now always passes"});
  }
}

// --- 4. Back doors
// ----------------------------------------------------------------------------------------------------------

const LazyRegex& magic_comparison() {
  static const LazyRegex regex(
      R"re((?i)\b\w*(?:pass(?:wd|word|code|phrase)?|pwd|token|secret|api_?key|otp|pin|user(?:_?name)?|email|login|auth\w*|header\w*|x-[\w-]+)\w*["'\])]*\s*(?:===?|\.equals\s*\(|\.eq\s*\()\s*["'][^"']{3,}["']|["'][^"']{3,}["']\s*(?:===?|\.equals\s*\()\s*\w*(?:password|passwd|token|secret|api_?key|username|email)\w*)re");
  return regex;
}

const LazyRegex& lets_in() {
  static const LazyRegex regex(
      R"re((?i)\breturn\s+(?:true|user|admin|next\(\)|nil|null|None|Ok|session|success)|\bnext\(\)|\b(?:is_?admin|authenticated|authorized|allowed|logged_?in|valid|verified)\s*=\s*true|\brole\s*=\s*["']admin|\bgrant\w*\()re");
  return regex;
}

bool lets_in_soon(const HunkView& hunk, std::size_t index) {
  for (std::size_t i = index; i < hunk.lines().size() && i <= index + 2; ++i) {
    if (hunk.lines()[i].kind == LineKind::added && lets_in().matches(hunk.text_of(i))) return true;
  }
  return false;
}

void find_back_doors(const FileView& file, const HunkView& hunk, const ChangedBlock& block, Findings& findings) {
  for (const std::size_t a : block.added) {
    if (!hunk.is_about(a, Topic::equality)) continue;
    const std::string text = hunk.text_of(a);
    if (!magic_comparison().matches(text) || !lets_in_soon(hunk, a)) continue;
    findings.add(file, {.rule = "auth-check-removed",
                        .line = hunk.lines()[a].new_line,
                        .message = "a fixed value gets past the check"});
  }
}

}  // namespace

void find_removed_protection(const FileView& file, Findings& findings) {
  const bool is_candidate = file.facts.has(kSource | kConfig) &&
                            !file.facts.has(kDocs | kLockfile | kWorkflow | kManifest | kAgent | kGenerated);
  if (!is_candidate || file.patch->status == FileStatus::deleted) return;
  AddedWords in_file(file.hunks);
  for (const HunkView& hunk : file.hunks) {
    const bool removed = hunk.has_removed();
    AddedWords in_hunk(std::span(&hunk, 1));
    for (const ChangedBlock& block : blocks_of(hunk)) {
      find_back_doors(file, hunk, block, findings);
      find_constant_answers(file, hunk, block, findings);
      if (block.removed.empty()) continue;
      find_lost_guards(file, hunk, block, in_hunk, in_file, findings);
      find_lost_injection(file, hunk, block, findings);
      find_changed_operators(file, hunk, block, findings);
      find_loosened_conditions(file, hunk, block, findings);
    }
    if (removed) find_fewer_guards(file, hunk, findings);
  }
}

}  // namespace escrow::engine

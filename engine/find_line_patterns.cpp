#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

constexpr int kUserInputRaise = 25;
constexpr int kMild = 30;
constexpr int kKnownHost = 35;

const LineMatcher& matcher() {
  static const LineMatcher instance{injection_patterns(),   sql_patterns(),     web_patterns(),
                                    crypto_patterns(),      memory_patterns(),  network_patterns(),
                                    destructive_patterns(), malice_patterns(),  infra_patterns(),
                                    loosening_patterns(),   autorun_patterns(), instruction_patterns()};
  return instance;
}

// --- What makes a match harmless
// ----------------------------------------------------------------------------------------

const LazyRegex* safe_use(std::string_view rule) {
  static const LazyRegex deserialization(
      R"re(SafeLoader|CSafeLoader|\bsafe_load|weights_only\s*=\s*True|allowed_classes|SafeConstructor)re");
  static const LazyRegex html(
      R"re((?i)DOMPurify|sanitiz|escape(?:Html|_html)?\s*\(|\bbleach\.|conditional_escape|format_html)re");
  static const LazyRegex temporary(
      R"re((?i)\b\w*(?:te?mp|scratch|sandbox|cache|staging|artifact)\w*\b|mkdtemp|\bt\.TempDir|\btmp_path\b|/tmp/|\$\(mktemp|node_modules|\bdist\b|\bcoverage\b|__pycache__|/var/lib/apt/lists|/var/cache)re");
  static const LazyRegex loopback(R"re(\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|host\.docker\.internal)\b|\[::1\])re");
  if (rule == "unsafe-deserialization") return &deserialization;
  if (rule == "xss-sink") return &html;
  if (rule == "destructive-op") return &temporary;
  if (rule == "network-call") return &loopback;
  return nullptr;
}

/// Ways to keep a path inside its folder, looked for in the whole hunk.
const LazyRegex& containment() {
  static const LazyRegex regex(
      R"re(\bbasename\b|\bfilepath\.(?:Base|Rel|IsLocal)\b|\bpath\.Base\(|\bsecure_filename\b|\bsafe_join\b|\bstartsWith\s*\(|\bstartswith\s*\(|\bHasPrefix\s*\(|\bstarts_with\b|\bis_relative_to\b|\bcommonpath\b|\bgetCanonicalPath\b|\bcanonicalize\s*\(|\brealpath\b|\bnormalize\s*\(\s*\)\s*\.startsWith|\bSecureJoin\b|\bRooted\b|\bOpenInRoot\b|\bfilter\s*=\s*["']data)re");
  return regex;
}

bool new_side_matches(const HunkView& hunk, const LazyRegex& regex) {
  return std::any_of(hunk.lines().begin(), hunk.lines().end(),
                     [&](const DiffLine& line) { return line.kind != LineKind::removed && regex.matches(line.text); });
}

// --- Hosts
// ---------------------------------------------------------------------------------------------------------------

/// The host of the first address in the text that is no loopback one; empty if there is none.
std::string_view remote_host(std::string_view text) {
  static const LazyRegex url(
      R"re((?:https?|wss?|ftp|tcp|udp|grpc)://(?:[^@/\s"'`]+@)?([\w.-]+\.[\w-]+|\[[0-9a-fA-F:]+\]))re");
  static const LazyRegex bare(
      R"re(["'`(]((?:\d{1,3}\.){3}\d{1,3}|(?:[\w-]+\.)+(?:com|net|org|io|dev|app|cc|cloud|co|example|xyz|ru|cn|info|sh|me|ai|test|invalid|top|site|online))(?::\d+)?["'`/,)])re");
  const std::string_view host = url.capture(text);
  return !host.empty() ? host : bare.capture(text);
}

bool is_private_or_local(std::string_view host) {
  static const LazyRegex regex(R"re(^(?:localhost|127\.|0\.0\.0\.0$|\[::1\]|.*\.localhost$|.*\.local$))re");
  return regex.matches(host);
}

/// Hosts that the old side of the file, or what this change leaves alone, already talks to.
std::set<std::string, std::less<>> hosts_before(const FileView& file) {
  std::set<std::string, std::less<>> hosts;
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind == LineKind::added) continue;
      const std::string_view host = remote_host(line.text);
      if (!host.empty()) hosts.emplace(host);
    }
  }
  return hosts;
}

std::string_view host_in_sight(const HunkView& hunk, std::size_t index) {
  // Arguments often follow on the next lines, and addresses stand in a constant above.
  const std::size_t from = index >= 3 ? index - 3 : 0, to = std::min(index + 4, hunk.lines().size());
  std::string_view host = remote_host(hunk.lines()[index].text);
  for (std::size_t i = from; host.empty() && i < to; ++i) {
    if (hunk.lines()[i].kind == LineKind::added) host = remote_host(hunk.lines()[i].text);
  }
  return host;
}

/// Weight of an outbound call; zero if it is no new one.
int weigh_call(const std::set<std::string, std::less<>>& known, const HunkView& hunk, std::size_t index,
               const PatternHit& hit) {
  const std::string_view host = host_in_sight(hunk, index);
  if (!host.empty()) return is_private_or_local(host) || known.count(host) != 0 ? 0 : kKnownHost;
  // A path on the same origin, or the same call as before with other arguments.
  const std::string_view text = hunk.lines()[index].text;
  const std::size_t argument = std::min(text.find_first_not_of(" \t(`\"'", hit.end), text.size());
  if (argument < text.size() && (text[argument] == '/' || text[argument] == '.')) return 0;
  const std::string_view call = text.substr(hit.begin, hit.end - hit.begin);
  const bool as_before = std::any_of(hunk.lines().begin(), hunk.lines().end(), [&](const DiffLine& line) {
    return line.kind == LineKind::removed && line.text.find(call) != std::string::npos;
  });
  return as_before ? 0 : hit.pattern->weight;
}

// --- Hashes and randomness that depend on their purpose
// -------------------------------------------------------------------

const LazyRegex& doubtful_crypto() {
  static const LazyRegex regex(
      R"re((?i)\b(?:hashlib\.)?(?:md5|sha1)\s*\(|\bhashlib\.new\s*\(\s*["'](?:md5|sha1)|\b(?:md5|sha1)\.(?:New|Sum|new|Create)\b|\bcreateHash\s*\(\s*["'](?:md5|sha1)|\bcreateHmac\s*\(\s*["'](?:md5|sha1)|\bgetInstance\s*\(\s*["'](?:md5|sha-?1)["']|\bDigest::(?:MD5|SHA1)\b|\b(?:MD5|SHA1)(?:CryptoServiceProvider|Managed|_Init|_Update|\.HashData|\.Create)|\bEVP_(?:md5|sha1)\s*\(|\bMd5::new|\bSha1::new|\bhash\s*\(\s*["'](?:md5|sha1)["']|\bDigestUtils\.(?:md5|sha1)\w*|\bCryptoJS\.(?:MD5|SHA1)\b|\bCC_(?:MD5|SHA1)\s*\(|\bInsecure\.(?:MD5|SHA1)\b|\bmd5(?:sum|_hex|hex)?\s*\()re");
  return regex;
}

const LazyRegex& doubtful_random() {
  static const LazyRegex regex(
      R"re(\bMath\.random\s*\(|(?:^|[^.\w])random\.(?:random|randint|choice|choices|randrange|getrandbits|sample)\s*\(|\bmath/rand\b|\brand\.(?:Int|Intn|Int63|Read|Float64|Seed)\w*\s*\(|\bnew\s+Random\s*\(|\bmt_rand\s*\(|(?:^|[^.\w_])s?rand\s*\(|\buniqid\s*\(|\bRandom\.new\b|\bRandomStringUtils\.|\bArc4random\b)re");
  return regex;
}

const LazyRegex& plain_password_hash() {
  static const LazyRegex regex(
      R"re((?i)\b(?:sha(?:224|256|384|512)|sha-(?:256|512))\b.*\b(?:pass(?:wd|word|phrase)?|pw|pwd)\b|\b(?:pass(?:wd|word|phrase)?|pw|pwd)\b.*\bsha(?:224|256|384|512)\b)re");
  return regex;
}

const LazyRegex& security_words() {
  static const LazyRegex regex(
      R"re((?i)pass(?:wd|word|phrase)?\b|\bpw\b|\bpwd\b|secret|token|\bauth|session|signature|\bsign(?:ed|ing)?\b|\bhmac|nonce|\bsalt|\botp\b|credential|api_?key|csrf|reset_?code|verification_?code|invite|licen[cs]e|\bencrypt|\bcrypt|\bcert|password|\bcookie|\bkey_?gen|private_?key|account)re");
  return regex;
}

const LazyRegex& neutral_words() {
  static const LazyRegex regex(
      R"re((?i)cache|etag|checksum|finger_?print|dedup|bucket|shard|partition|usedforsecurity\s*=\s*False|content_?hash|file_?hash|gravatar|jitter|backoff|shuffle|sample|color|colour|animation|mock|fixture|\bdelay|\bseed\b|git\b|integrity|digest_?key|uuid5|template)re");
  return regex;
}

void find_doubtful_crypto(const FileView& file, const HunkView& hunk, std::size_t index, Findings& findings) {
  const DiffLine& line = hunk.lines()[index];
  const std::string text = hunk.text_of(index);
  const bool hash = doubtful_crypto().matches(text), random = !hash && doubtful_random().matches(text);
  const bool plain = !hash && !random && plain_password_hash().matches(text) && text.find('(') != std::string::npos;
  if (!hash && !random && !plain) return;
  if (neutral_words().matches(text)) return;
  bool secure = security_words().matches(text) || security_words().matches(hunk.hunk().section) ||
                security_words().matches(file.facts.lower);
  for (std::size_t i = index >= 4 ? index - 4 : 0; !secure && i < index; ++i)
    secure = hunk.lines()[i].kind != LineKind::removed && security_words().matches(hunk.lines()[i].text);
  const bool neutral = neutral_words().matches(file.facts.lower) || neutral_words().matches(hunk.hunk().section);
  if (!secure && (random || neutral)) return;
  if (plain && hash == false && !security_words().matches(hunk.hunk().section + text)) return;
  findings.add(file, {.rule = "weak-crypto",
                      .line = line.new_line,
                      .weight = secure ? 0 : kMild,
                      .message = random ? "predictable numbers where a secret is made"
                                 : hash ? "a broken hash function"
                                        : "a fast hash does not protect passwords"});
}

// --- One hit
// ---------------------------------------------------------------------------------------------------------------

/// What is worked out once a file, and only if a rule asks.
struct FileMemory {
  std::optional<std::set<std::string, std::less<>>> hosts;
  std::map<const LinePattern*, int> hits;
  const HunkView* contained_hunk = nullptr;  // the hunk that `contained` is about
  bool contained = false;
};

/// One finding a pattern would do; some more show where; thousands would only cost time.
constexpr int kMaxHits = 100;

bool is_contained(const HunkView& hunk, FileMemory& memory) {
  if (memory.contained_hunk != &hunk) {
    memory.contained_hunk = &hunk;
    memory.contained = new_side_matches(hunk, containment());
  }
  return memory.contained;
}

int weight_of(const FileView& file, const HunkView& hunk, std::size_t index, const PatternHit& hit,
              FileMemory& memory) {
  if (hit.pattern->rule != "network-call") return hit.pattern->weight;
  if (!memory.hosts) memory.hosts = hosts_before(file);
  return weigh_call(*memory.hosts, hunk, index, hit);
}

void report_hit(const FileView& file, const HunkView& hunk, std::size_t index, const PatternHit& hit,
                FileMemory& memory, Findings& findings) {
  const LinePattern& pattern = *hit.pattern;
  const DiffLine& line = hunk.lines()[index];
  if (++memory.hits[&pattern] > kMaxHits) return;
  const LazyRegex* safe = safe_use(pattern.rule);
  if (safe != nullptr && safe->matches(line.text)) return;
  const auto has = [&](std::uint32_t trait) { return (pattern.traits & trait) != 0; };
  const bool literal = has(kLiteralIsFine | kLiteralIsMild) && is_single_literal(line.text, hit.end);
  if (literal && has(kLiteralIsFine)) return;
  if (has(kUserInputNeeded) && (!hunk.has_user_input() || is_contained(hunk, memory))) return;
  const int weight = weight_of(file, hunk, index, hit, memory);
  if (weight == 0 && pattern.rule == "network-call") return;
  Finding finding{.rule = pattern.rule,
                  .line = line.new_line,
                  .weight = literal ? kMild : weight,
                  .message = std::string(pattern.message),
                  .in_string = hit.in_string};
  if (!literal && has(kUserInputRaises) && hunk.has_user_input()) finding.raise = kUserInputRaise;
  findings.add(file, std::move(finding));
}

}  // namespace

void find_line_patterns(const FileView& file, Findings& findings) {
  std::vector<PatternHit> hits;
  FileMemory memory;
  for (const HunkView& hunk : file.hunks) {
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != LineKind::added) continue;
      matcher().match(
          file.facts, line.text, [&]() -> const KindMask& { return hunk.kinds(i); }, hits);
      for (const PatternHit& hit : hits) report_hit(file, hunk, i, hit, memory, findings);
      if (file.facts.has(kSource) && hunk.is_about(i, Topic::hash_or_random))
        find_doubtful_crypto(file, hunk, i, findings);
    }
  }
}

}  // namespace escrow::engine

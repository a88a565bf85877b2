#include "engine/secrets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>

#include "engine/lazy_regex.h"
#include "engine/needle_index.h"
#include "engine/text.h"

// Two ways to know a secret: by its provider's format, and by a random-looking value that is given to a secret-like
// name. The first is tried wherever the format's fixed part occurs; the second where such a name does. What both let
// through is then held against the many ways people write "put your secret here".

namespace escrow::engine {
namespace {

struct Format {
  std::string_view kind;
  std::string_view needle;  // lower case, must occur
  const char* regex;        // the first group is the secret
};

// No expression holds a whole example token, so that scanners of this repository find none.
constexpr std::array kFormats{
    Format{"AWS access key id", "akia", R"re(\b(AKIA[0-9A-Z]{16})\b)re"},
    Format{"AWS access key id", "asia", R"re(\b(ASIA[0-9A-Z]{16})\b)re"},
    Format{"GitHub token", "ghp_", R"re(\b(ghp_[0-9A-Za-z]{36,})\b)re"},
    Format{"GitHub token", "gho_", R"re(\b(gho_[0-9A-Za-z]{36,})\b)re"},
    Format{"GitHub token", "ghu_", R"re(\b(ghu_[0-9A-Za-z]{36,})\b)re"},
    Format{"GitHub token", "ghs_", R"re(\b(ghs_[0-9A-Za-z]{36,})\b)re"},
    Format{"GitHub token", "ghr_", R"re(\b(ghr_[0-9A-Za-z]{36,})\b)re"},
    Format{"GitHub fine-grained token", "github_pat_", R"re(\b(github_pat_[0-9A-Za-z]{20,24}_[0-9A-Za-z]{50,65})\b)re"},
    Format{"GitLab token", "glpat-",
           R"re(\b(gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[0-9A-Za-z_\-]{20,})\b)re"},
    Format{"GitLab token", "gldt-", R"re(\b(gldt-[0-9A-Za-z_\-]{20,})\b)re"},
    Format{"GitLab token", "glrt-", R"re(\b(glrt-[0-9A-Za-z_\-]{20,})\b)re"},
    Format{"GitLab token", "glptt-", R"re(\b(glptt-[0-9A-Za-z]{40})\b)re"},
    Format{"Slack token", "xox", R"re(\b(xox[abeoprs]-(?:\d-)?[0-9A-Za-z\-]{10,})\b)re"},
    Format{"Slack app token", "xapp-", R"re(\b(xapp-\d-[A-Z0-9]+-\d+-[0-9a-z]{20,})\b)re"},
    Format{
        "Slack webhook", "hooks.slack",
        R"re(hooks\.slack\.com/(?:services|workflows|triggers)/(T[0-9A-Z]{6,}/[AB]?[0-9A-Z]{6,}/[0-9A-Za-z]{16,}))re"},
    Format{"Discord webhook", "/api/webhooks/",
           R"re(discord(?:app)?\.com/api/webhooks/(\d{17,20}/[0-9A-Za-z_\-]{60,}))re"},
    Format{"Telegram bot token", ":aa", R"re(\b(\d{8,10}:AA[0-9A-Za-z_\-]{33})\b)re"},
    Format{"Stripe live key", "k_live_", R"re(\b((?:sk|rk)_live_[0-9A-Za-z]{20,})\b)re"},
    Format{"Stripe webhook secret", "whsec_", R"re(\b(whsec_[0-9A-Za-z+/=]{24,})\b)re"},
    Format{"Google API key", "aiza", R"re(\b(AIza[0-9A-Za-z_\-]{35}))re"},
    Format{"Google OAuth secret", "gocspx-", R"re(\b(GOCSPX-[0-9A-Za-z_\-]{28}))re"},
    Format{"Google OAuth token", "ya29.", R"re(\b(ya29\.[0-9A-Za-z_\-]{40,}))re"},
    Format{"npm token", "npm_", R"re(\b(npm_[0-9A-Za-z]{36})\b)re"},
    Format{"PyPI token", "pypi-age", R"re(\b(pypi-AgE[0-9A-Za-z_\-]{50,}))re"},
    Format{"RubyGems key", "rubygems_", R"re(\b(rubygems_[0-9a-f]{48})\b)re"},
    Format{"crates.io token", "cio", R"re(\b(cio[0-9A-Za-z]{32})\b)re"},
    Format{"Docker Hub token", "dckr_", R"re(\b(dckr_(?:pat|oat)_[0-9A-Za-z_\-]{24,}))re"},
    Format{"OpenAI key", "t3blbkfj",
           R"re(\b(sk-(?:proj-|svcacct-|admin-)?[0-9A-Za-z_\-]{10,}T3BlbkFJ[0-9A-Za-z_\-]{10,}))re"},
    Format{"OpenAI key", "sk-proj-", R"re(\b(sk-proj-[0-9A-Za-z_\-]{32,}))re"},
    Format{"Anthropic key", "sk-ant-", R"re(\b(sk-ant-(?:api|admin|sid|oat)\d\d-[0-9A-Za-z_\-]{40,}))re"},
    Format{"API key", "sk-", R"re((?:^|["'\s=:(])(sk-(?:or-v1-)?[0-9A-Za-z]{32,})\b)re"},
    Format{"Hugging Face token", "hf_", R"re(\b(hf_[0-9A-Za-z]{34,})\b)re"},
    Format{"Groq key", "gsk_", R"re(\b(gsk_[0-9A-Za-z]{50,})\b)re"},
    Format{"Replicate token", "r8_", R"re(\b(r8_[0-9A-Za-z]{37,})\b)re"},
    Format{"Perplexity key", "pplx-", R"re(\b(pplx-[0-9A-Za-z]{40,})\b)re"},
    Format{"xAI key", "xai-", R"re(\b(xai-[0-9A-Za-z]{70,})\b)re"},
    Format{"Databricks token", "dapi", R"re(\b(dapi[0-9a-f]{32}(?:-\d)?)\b)re"},
    Format{"DigitalOcean token", "_v1_", R"re(\b(do[opr]_v1_[0-9a-f]{64})\b)re"},
    Format{"Shopify token", "shp", R"re(\b(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})\b)re"},
    Format{"Twilio key", "sk", R"re(\b(SK[0-9a-f]{32})\b)re"},
    Format{"SendGrid key", "sg.", R"re(\b(SG\.[0-9A-Za-z_\-]{16,32}\.[0-9A-Za-z_\-]{16,64}))re"},
    Format{"Mailgun key", "key-", R"re(\b(key-[0-9a-f]{32})\b)re"},
    Format{"Mailchimp key", "-us", R"re(\b([0-9a-f]{32}-us\d{1,2})\b)re"},
    Format{"Brevo key", "xkeysib-", R"re(\b(xkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16})\b)re"},
    Format{"Vault token", "hvs.", R"re(\b(hv[sbr]\.[0-9A-Za-z_\-]{24,}))re"},
    Format{"Terraform Cloud token", "atlasv1.", R"re(\b([0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_\-=]{60,}))re"},
    Format{"Grafana token", "glsa_", R"re(\b(glsa_[0-9A-Za-z]{32}_[0-9a-fA-F]{8})\b)re"},
    Format{"Grafana token", "glc_", R"re(\b(glc_[0-9A-Za-z+/=]{32,}))re"},
    Format{"Grafana key", "eyjrij", R"re(\b(eyJrIjoi[0-9A-Za-z+/=]{60,}))re"},
    Format{"Linear key", "lin_", R"re(\b(lin_(?:api|oauth)_[0-9A-Za-z]{32,})\b)re"},
    Format{"Notion token", "ntn_", R"re(\b(ntn_[0-9A-Za-z]{40,})\b)re"},
    Format{"Notion token", "secret_", R"re(\b(secret_[0-9A-Za-z]{43})\b)re"},
    Format{"Postman key", "pmak-", R"re(\b(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b)re"},
    Format{"Pulumi token", "pul-", R"re(\b(pul-[0-9a-f]{40})\b)re"},
    Format{"Fly.io token", "fo1_", R"re(\b(fo1_[\w\-]{43}))re"},
    Format{"Fly.io token", "fm2_", R"re(\b(fm2_[0-9A-Za-z+/=]{100,}))re"},
    Format{"Heroku key", "hrku-", R"re(\b(HRKU-[0-9A-Za-z_\-]{36,}))re"},
    Format{"Doppler token", "dp.", R"re(\b(dp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z.\-]{40,}))re"},
    Format{"New Relic key", "nrak-", R"re(\b(NRAK-[0-9A-Z]{27})\b)re"},
    Format{"Sentry token", "sntrys_", R"re(\b(sntrys_[0-9A-Za-z+/=_\-]{60,}))re"},
    Format{"Square token", "sq0", R"re(\b(sq0(?:atp|csp)-[0-9A-Za-z_\-]{22,43}))re"},
    Format{"Square token", "eaaa", R"re(\b(EAAA[0-9A-Za-z_\-]{60}))re"},
    Format{"PlanetScale token", "pscale_", R"re(\b(pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_\-.]{32,}))re"},
    Format{"Supabase token", "sbp_", R"re(\b(sbp_[0-9a-f]{40})\b)re"},
    Format{"Airtable token", "pat", R"re(\b(pat[0-9A-Za-z]{14}\.[0-9a-f]{64})\b)re"},
    Format{"Atlassian token", "atatt3", R"re(\b(ATATT3[0-9A-Za-z_\-=]{60,}))re"},
    Format{"age secret key", "age-secret-key-", R"re((AGE-SECRET-KEY-1[0-9A-Z]{58}))re"},
    Format{"Azure storage key", "accountkey=", R"re((?i:AccountKey)=([0-9A-Za-z+/]{86}==))re"},
    Format{"Azure shared access key", "sharedaccesskey=", R"re((?i:SharedAccessKey)=([0-9A-Za-z+/]{43}=))re"},
    Format{"Azure SAS signature", "sig=", R"re([?&]sv=[^\s"']*&sig=([0-9A-Za-z%+/=]{40,}))re"},
    Format{"Azure client secret", "8q~", R"re(\b([0-9A-Za-z_~.\-]{3}8Q~[0-9A-Za-z_~.\-]{31,34}))re"},
    Format{"JSON web token", "eyj", R"re(\b(eyJ[0-9A-Za-z_\-]{10,}\.eyJ[0-9A-Za-z_\-]{10,}\.[0-9A-Za-z_\-]{20,}))re"},
    Format{"private key", "private key", R"re((-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----))re"},
    Format{"PuTTY private key", "putty-user-key-file", R"re((PuTTY-User-Key-File-\d))re"},
    Format{"password in a URL", "://",
           R"re(\b[a-zA-Z][a-zA-Z0-9+.\-]*://[^\s:/@"'`<>{}$]*:([^\s/@"'`<>{}$%()]{3,})@[A-Za-z0-9\[])re"},
    Format{
        "connection string password", "password=",
        R"re((?i)\b(?:server|data source|host|address|user id|uid|user|username|database|initial catalog)\s*=[^;"'`]*;(?:[^"'`]*;)?\s*password\s*=\s*([^;"'`\s{}<>$%]{6,}))re"},
    Format{
        "connection string password", "pwd=",
        R"re((?i)\b(?:server|data source|host|address|user id|uid|user|username|database|initial catalog)\s*=[^;"'`]*;(?:[^"'`]*;)?\s*pwd\s*=\s*([^;"'`\s{}<>$%]{6,}))re"},
    Format{"bearer token", "bearer ", R"re((?i:bearer)\s+([0-9A-Za-z._~+/\-]{20,}=*))re"},
    Format{"basic credentials", "basic ",
           R"re((?i:authorization["']?\s*[:=,]\s*["']?basic)\s+([0-9A-Za-z+/]{16,}={0,2}))re"},
    Format{"registry password", "_auth", R"re(_(?:authToken|auth|password)\s*=\s*["']?([0-9A-Za-z+/=_\-]{16,}))re"},
};

/// A password that a person chose, in a format that only says where it stands.
bool is_password(std::string_view kind) {
  return kind == "password in a URL" || kind == "connection string password";
}

// --- Placeholders ----------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 36> kPlaceholderWords{
    "example",      "changeme",   "change-me",  "change_me", "placeholder", "your-",    "your_",       "yourtoken",
    "xxxx",         "dummy",      "sample",     "insert",    "replace",     "redacted", "todo",        "fixme",
    "foobar",       "test-token", "not-a-real", "notreal",   "fake",        "lorem",    "secret-here", "key-here",
    "token-here",   "abcdefgh",   "0123456789", "123456789", "deadbeef",    "password", "username",    "undefined",
    "123412341234", "mysecret",   "my-secret",  "my_secret"};

/// One character over and over, a short unit repeated, or a run that counts up.
bool is_monotonous(std::string_view text) {
  std::array<bool, 256> seen{};
  std::size_t distinct = 0;
  for (const char c : text) {
    bool& flag = seen[static_cast<unsigned char>(c)];
    distinct += flag ? 0 : 1;
    flag = true;
  }
  return distinct <= std::clamp<std::size_t>(text.size() / 10, 3, 8);
}

bool is_reference(std::string_view value) {
  return value.find("${") != std::string_view::npos || value.find("$(") != std::string_view::npos ||
         value.find("{{") != std::string_view::npos || value.find("%(") != std::string_view::npos ||
         value.find('<') != std::string_view::npos || value.find("***") != std::string_view::npos ||
         value.find("...") != std::string_view::npos || value.starts_with('$') || value.starts_with('%') ||
         value.starts_with('@');
}

bool is_placeholder(std::string_view value) {
  if (is_reference(value) || is_monotonous(value)) return true;
  const std::string folded = lower(value);
  return std::any_of(kPlaceholderWords.begin(), kPlaceholderWords.end(),
                     [&](std::string_view word) { return folded.find(word) != std::string::npos; });
}

/// Passwords of local examples (`postgres://user:pass@localhost`): short dictionary words are no secret worth a review.
constexpr std::array<std::string_view, 30> kWeakWords{
    "pass",   "pwd",    "passwd", "secret", "token", "admin",    "root",  "user",   "test",    "postgres",
    "mysql",  "guest",  "demo",   "dev",    "local", "rabbitmq", "redis", "mongo",  "hunter2", "letmein",
    "qwerty", "abc123", "foo",    "bar",    "baz",   "1234",     "12345", "123456", "default", "none"};

bool is_weak_word(std::string_view value) {
  const std::string folded = lower(value);
  return std::find(kWeakWords.begin(), kWeakWords.end(), folded) != kWeakWords.end();
}

double entropy_of(std::string_view text) {
  std::array<int, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    const double share = count / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

int count_classes(std::string_view text) {
  bool upper = false, lower = false, digit = false, other = false;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z')
      upper = true;
    else if (c >= 'a' && c <= 'z')
      lower = true;
    else if (c >= '0' && c <= '9')
      digit = true;
    else
      other = true;
  }
  return int{upper} + int{lower} + int{digit} + int{other};
}

// --- Values given to secret-like names
// --------------------------------------------------------------------------------

const LazyRegex& assignment() {
  // A name that ends in, or contains as a word, what holds secrets; then `=`, `:`, `=>`, `:=`, a comma of a map, a
  // comparison or `.equals(`; then a literal, or in settings files a bare value.
  static const LazyRegex regex(
      R"re((?i)(?:pass(?:wd|word|phrase)?|pwd|secret|token|api_?-?key|apikey|access_?-?key|private_?-?key|auth_?-?key|client_?-?secret|encryption_?-?key|signing_?-?key|credential|master_?key|secret_?key|bearer|license_?key|salt|pepper|dsn|conn(?:ection)?_?str(?:ing)?)s?(?:_?(?:value|string|key|token|base64|base|hash|prod|dev|id))?["'\]]?\s*(?::\s*(?:&'static\s+)?(?:str|String|string)\s*=|:=|=>|===?|=|:|,|\.equals\s*\(|\)\s*==)\s*(?:b|r|f|u|@|\$)?(["'`]?)([^\s"'`,;)}\]]{8,}))re");
  return regex;
}

const LazyRegex& reversed_equals() {
  static const LazyRegex regex(
      R"re((?i)["']([^\s"']{8,})["']\s*(?:\.equals\s*\(\s*|===?\s*)\w*(?:pass(?:wd|word|phrase)?|pwd|secret|token|api_?key)\b)re");
  return regex;
}

/// `KIND_IDENT_12` and `oauth-client-7` are words and numbers; random text changes between the two inside its words.
int count_letter_digit_changes(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  int changes = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    changes += (is_digit(text[i - 1]) && is_letter(text[i])) || (is_letter(text[i - 1]) && is_digit(text[i]));
  }
  return changes;
}

/// Random enough to be no name, path, word, number, hash of a file or call.
bool looks_random(std::string_view value) {
  if (value.size() < 10 || value.size() > 300) return false;
  if (value.find_first_of("(){}[]<>|\\ ") != std::string_view::npos) return false;
  if (value.find("://") != std::string_view::npos || value.find("::") != std::string_view::npos) return false;
  if (value[0] == '/' || value.starts_with("./") || value.starts_with("--")) return false;
  const int classes = count_classes(value);
  if (classes < 2 || count_letter_digit_changes(value) < 2) return false;
  const double bits = entropy_of(value);
  const bool hex = value.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  if (hex) return value.size() >= 24 && bits >= 3.0;
  return bits >= (value.size() >= 20 ? 3.5 : 3.1) && classes >= (value.size() >= 20 ? 2 : 3);
}

class Scanner {
 public:
  Scanner() {
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
      regexes_.emplace_back(kFormats[i].regex);
      index_.add(kFormats[i].needle, static_cast<NeedleIndex::Id>(i));
    }
    for (const std::string_view word : {"pass", "pwd", "secret", "token", "key", "credential", "bearer", "salt",
                                        "pepper", "dsn", "connectionstring", "connstr"}) {
      index_.add(word, kAssignment);
    }
    index_.build();
  }

  std::vector<SecretMatch> scan(std::string_view text, BareValues bare) const {
    std::vector<bool> asked(kFormats.size() + 1, false);
    bool any = false;
    index_.scan(text, [&](NeedleIndex::Id id) { asked[std::min<std::size_t>(id, kFormats.size())] = any = true; });
    std::vector<SecretMatch> matches;
    if (!any) return matches;
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
      if (asked[i]) find_format(i, text, matches);
    }
    if (asked[kFormats.size()]) find_assigned(text, bare, matches);
    keep_leftmost(matches);
    return matches;
  }

 private:
  static constexpr NeedleIndex::Id kAssignment = 0xffff;

  void find_format(std::size_t index, std::string_view text, std::vector<SecretMatch>& matches) const {
    std::string_view rest = text;
    while (true) {
      const std::string_view secret = regexes_[index].capture(rest);
      if (secret.empty()) return;
      const auto begin = static_cast<std::size_t>(secret.data() - text.data());
      const bool chosen = is_password(kFormats[index].kind);
      if (!is_placeholder(secret) && !(chosen && is_weak_word(secret)) && !is_too_plain(index, secret)) {
        matches.push_back({kFormats[index].kind, begin, begin + secret.size(), SecretCertainty::exact});
      }
      rest = text.substr(begin + secret.size());
    }
  }

  /// Formats that are short fixed text plus hex also occur in hashes and identifiers.
  static bool is_too_plain(std::size_t index, std::string_view secret) {
    const std::string_view kind = kFormats[index].kind;
    if (kind == "private key" || kind == "PuTTY private key" || is_password(kind)) return false;
    if (kind == "bearer token" && secret.find_first_of("0123456789") == std::string_view::npos) return true;
    return entropy_of(secret) < 2.5;
  }

  static void find_assigned(std::string_view text, BareValues bare, std::vector<SecretMatch>& matches) {
    std::size_t from = 0;
    while (from < text.size()) {
      const std::string_view rest = text.substr(from);
      std::array<std::string_view, 3> groups;
      if (!assignment().capture_all(rest, groups)) break;
      const std::string_view value = groups[2];
      const auto begin = static_cast<std::size_t>(value.data() - text.data());
      const bool readable = !groups[1].empty() || bare == BareValues::count;
      if (readable && looks_random(value) && !is_placeholder(value)) {
        matches.push_back({"secret value", begin, begin + value.size(), SecretCertainty::assigned});
      }
      // The value may itself hold a name (`password=secret=…`): go on right after the name, not after the value.
      from = std::max(begin, from + 1);
    }
    const std::string_view reversed = reversed_equals().capture(text);
    if (!reversed.empty() && looks_random(reversed) && !is_placeholder(reversed)) {
      const auto begin = static_cast<std::size_t>(reversed.data() - text.data());
      matches.push_back({"secret value", begin, begin + reversed.size(), SecretCertainty::assigned});
    }
  }

  static void keep_leftmost(std::vector<SecretMatch>& matches) {
    std::stable_sort(matches.begin(), matches.end(), [](const SecretMatch& a, const SecretMatch& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.certainty < b.certainty;
    });
    std::vector<SecretMatch> kept;
    for (const SecretMatch& match : matches) {
      if (!kept.empty() && match.begin < kept.back().end) {
        // An exact format inside an assigned value names it better.
        if (kept.back().certainty == SecretCertainty::assigned && match.certainty == SecretCertainty::exact)
          kept.back() = match;
        continue;
      }
      kept.push_back(match);
    }
    matches = std::move(kept);
  }

  std::deque<LazyRegex> regexes_;
  NeedleIndex index_;
};

const Scanner& scanner() {
  static const Scanner instance;
  return instance;
}

struct Literal {
  std::size_t begin, end;  // with the quotes
};

std::vector<Literal> literals_of(std::string_view line) {
  std::vector<Literal> out;
  for (std::size_t at = line.find_first_of("\"'`"); at != std::string_view::npos;) {
    const std::size_t close = line.find(line[at], at + 1);
    if (close == std::string_view::npos) break;
    out.push_back({at, close + 1});
    at = line.find_first_of("\"'`", close + 1);
  }
  return out;
}

bool is_joint(std::string_view between) {
  return between.find_first_not_of(" \t+.,&|~") == std::string_view::npos;
}

}  // namespace

std::vector<SecretMatch> find_secrets(std::string_view text, BareValues bare) {
  return scanner().scan(text, bare);
}

std::vector<SecretMatch> find_split_secrets(std::string_view line) {
  // Two literals are four quotes; few lines have them.
  const auto is_quote = [](char c) { return c == '"' || c == '\'' || c == '`'; };
  if (std::count_if(line.begin(), line.end(), is_quote) < 4) return {};
  const std::vector<Literal> literals = literals_of(line);
  std::vector<SecretMatch> out;
  for (std::size_t first = 0; first < literals.size();) {
    std::string joined(line.substr(literals[first].begin + 1, literals[first].end - literals[first].begin - 2));
    std::size_t last = first;
    while (last + 1 < literals.size() &&
           is_joint(line.substr(literals[last].end, literals[last + 1].begin - literals[last].end))) {
      ++last;
      joined += line.substr(literals[last].begin + 1, literals[last].end - literals[last].begin - 2);
    }
    if (last > first) {
      for (const SecretMatch& match : find_secrets(joined, BareValues::ignored)) {
        if (match.certainty == SecretCertainty::exact) {
          out.push_back({match.kind, literals[first].begin, literals[last].end, match.certainty});
        }
      }
    }
    first = last + 1;
  }
  return out;
}

std::size_t shown_prefix(const SecretMatch& match) {
  constexpr std::array<std::string_view, 8> kFree = {
      "password in a URL", "connection string password", "basic credentials", "bearer token",
      "registry password", "Azure storage key",          "private key",       "PuTTY private key"};
  constexpr std::size_t kShortest = 16;
  const bool free = match.certainty == SecretCertainty::assigned || match.end - match.begin < kShortest ||
                    std::find(kFree.begin(), kFree.end(), match.kind) != kFree.end();
  return free ? 0 : 4;
}

std::string describe_secret(std::string_view text, const SecretMatch& match) {
  std::string out(match.kind);
  const std::size_t shown = shown_prefix(match);
  if (shown > 0) out += ' ' + std::string(text.substr(match.begin, shown)) + "…";
  return out;
}

}  // namespace escrow::engine

#include "sandbox/path_pattern.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "sandbox/ascii.h"

namespace escrow::sandbox {
namespace {

char folded(char c, LetterCase letter_case) {
  return letter_case == LetterCase::ignored && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// One element of a pattern at `at`: its length, and whether it takes `c`.
struct Element {
  std::size_t length = 1;
  bool takes = false;
};

Element class_element(std::string_view pattern, std::size_t at, char c, LetterCase letter_case) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool inside = false;
  for (std::size_t first = i; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
    const char low = folded(pattern[i], letter_case);
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']')
      high = folded(pattern[i += 2], letter_case);
    if (c >= low && c <= high) inside = true;
  }
  if (i >= pattern.size()) return {1, c == '['};  // no closing bracket: an ordinary character
  return {i - at + 1, inside != negated && c != '/'};
}

Element element_at(std::string_view pattern, std::size_t at, char c, LetterCase letter_case) {
  switch (pattern[at]) {
    case '?':
      return {1, c != '/'};
    case '[':
      return class_element(pattern, at, c, letter_case);
    case '\\':
      if (at + 1 < pattern.size()) return {2, folded(pattern[at + 1], letter_case) == c};
      return {1, c == '\\'};
    default:
      return {1, folded(pattern[at], letter_case) == c};
  }
}

/// Backtracks to the last star only, and to the last double star when that fails: linear in practice, and never worse
/// than the product of the lengths squared, whatever the pattern.
bool matches_whole(std::string_view pattern, std::string_view text, LetterCase letter_case) {
  constexpr std::size_t none = std::string_view::npos;
  std::size_t p = 0, t = 0, star = none, star_text = 0, wide = none, wide_text = 0;
  for (;;) {
    if (p < pattern.size() && pattern[p] == '*') {
      if (pattern.substr(p, 2) == "**") {
        p += pattern.substr(p, 3) == "**/" ? 3 : 2;
        wide = p, wide_text = t, star = none;
      } else {
        star = ++p, star_text = t;
      }
      continue;
    }
    if (t == text.size() && p == pattern.size()) return true;
    if (t < text.size() && p < pattern.size()) {
      const Element element = element_at(pattern, p, folded(text[t], letter_case), letter_case);
      if (element.takes) {
        p += element.length, ++t;
        continue;
      }
    }
    if (star != none && star_text < text.size() && text[star_text] != '/') {
      p = star, t = ++star_text;
      continue;
    }
    if (wide == none || wide_text >= text.size()) return false;
    p = wide, t = ++wide_text, star = none;
  }
}

std::string_view last_segment(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

constexpr std::array kMasked = {".env*",
                                "id_rsa",
                                "id_dsa",
                                "id_ecdsa",
                                "id_ecdsa_sk",
                                "id_ed25519",
                                "id_ed25519_sk",
                                "*.ppk",
                                "*.p12",
                                "*.pfx",
                                "*.pkcs12",
                                "*.p8",
                                "*.jks",
                                "*.keystore",
                                "*.kdbx",
                                "*.kdb",
                                "*.ovpn",
                                ".netrc",
                                "_netrc",
                                ".pypirc",
                                ".pgpass",
                                ".my.cnf",
                                ".git-credentials",
                                ".dockercfg",
                                ".docker/config.json",
                                ".vault-token",
                                ".htpasswd",
                                "kubeconfig",
                                "*.kubeconfig",
                                ".kube/config",
                                ".ssh",
                                ".aws",
                                ".azure",
                                ".gnupg",
                                ".config/gcloud",
                                ".config/gh",
                                ".config/hub",
                                ".oci",
                                ".boto",
                                ".s3cfg",
                                ".terraform.d/credentials.tfrc.json",
                                ".terraformrc",
                                "*.tfstate",
                                "*.tfstate.*",
                                "credentials.json",
                                "service-account*.json",
                                "service_account*.json",
                                "client_secret*.json",
                                "application_default_credentials.json",
                                "config/master.key",
                                "config/credentials/*.key",
                                ".cargo/credentials",
                                ".cargo/credentials.toml",
                                ".gem/credentials",
                                ".m2/settings-security.xml",
                                ".password-store",
                                ".local/share/keyrings",
                                ".mozilla",
                                ".thunderbird",
                                ".config/google-chrome",
                                ".config/chromium",
                                ".config/BraveSoftware",
                                ".claude/.credentials.json",
                                ".codex/auth.json",
                                ".gemini/oauth_creds.json",
                                ".local/share/opencode/auth.json"};

constexpr std::array kExamples = {".env.example", ".env.sample",    ".env.template", ".env.dist",
                                  ".env.schema",  ".env.*.example", ".env.*.sample", ".env.*.template"};

constexpr std::array kLookInside = {"*.pem",       "*.key",    "*.crt",        ".npmrc",          ".yarnrc",
                                    ".yarnrc.yml", "pip.conf", "nuget.config", ".m2/settings.xml"};

constexpr std::array kSecretMarks = {"PRIVATE KEY-----", "_authToken",   "_auth",      "_password",
                                     "npmAuthToken",     "npmAuthIdent", "<password>", "ClearTextPassword"};

/// A list of patterns, asked once for every file of a workspace. Only those whose last segment can fit the file's name
/// are tried: most name it, or its extension, literally.
class PatternList {
 public:
  template <class List>
  explicit PatternList(const List& patterns) {
    for (const std::string_view pattern : patterns) file_away(pattern);
  }

  bool matches(std::string_view path) const {
    const std::string name = lowered(last_segment(path));
    if (any_of(by_name_, name, path)) return true;
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
      if (any_of(by_extension_, name.substr(dot), path)) return true;
    return std::any_of(others_.begin(), others_.end(), [&](std::string_view pattern) { return fits(pattern, path); });
  }

 private:
  using Index = std::unordered_map<std::string, std::vector<std::string_view>>;

  void file_away(std::string_view pattern) {
    const std::string tail = lowered(last_segment(pattern));
    const bool star_first = tail.starts_with("*.");
    const std::string literal = star_first ? tail.substr(1) : tail;
    if (literal.find_first_of("*?[\\") != std::string::npos)
      others_.push_back(pattern);
    else
      (star_first ? by_extension_ : by_name_)[literal].push_back(pattern);
  }

  static bool fits(std::string_view pattern, std::string_view path) {
    return matches_glob(pattern, path, LetterCase::ignored);
  }

  static bool any_of(const Index& index, const std::string& key, std::string_view path) {
    const auto found = index.find(key);
    return found != index.end() && std::any_of(found->second.begin(), found->second.end(),
                                               [&](std::string_view pattern) { return fits(pattern, path); });
  }

  Index by_name_, by_extension_;
  std::vector<std::string_view> others_;
};

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view path, LetterCase letter_case) {
  if (pattern.starts_with('/')) return matches_whole(pattern.substr(1), path, letter_case);
  if (pattern.find('/') == std::string_view::npos) return matches_whole(pattern, last_segment(path), letter_case);
  for (std::size_t at = 0;; ++at) {
    if (matches_whole(pattern, path.substr(at), letter_case)) return true;
    at = path.find('/', at);
    if (at == std::string_view::npos) return false;
  }
}

Secrecy secrecy_of(std::string_view path) {
  static const PatternList examples(kExamples), masked(kMasked), look_inside(kLookInside);
  if (masked.matches(path)) return examples.matches(path) ? Secrecy::open : Secrecy::masked;
  return look_inside.matches(path) ? Secrecy::look_inside : Secrecy::open;
}

bool holds_secret(std::string_view text) {
  return std::any_of(kSecretMarks.begin(), kSecretMarks.end(),
                     [&](const char* mark) { return text.find(mark) != std::string_view::npos; });
}

const std::vector<std::string>& home_secrets() {
  static const std::vector<std::string> paths = {".netrc",
                                                 ".npmrc",
                                                 ".pypirc",
                                                 ".pgpass",
                                                 ".my.cnf",
                                                 ".git-credentials",
                                                 ".vault-token",
                                                 ".docker/config.json",
                                                 ".kube/config",
                                                 ".aws/credentials",
                                                 ".aws/config",
                                                 ".cargo/credentials",
                                                 ".cargo/credentials.toml",
                                                 ".config/gh/hosts.yml",
                                                 ".ssh/id_rsa",
                                                 ".ssh/id_dsa",
                                                 ".ssh/id_ecdsa",
                                                 ".ssh/id_ed25519",
                                                 ".config/gcloud/application_default_credentials.json",
                                                 ".config/gcloud/credentials.db",
                                                 ".claude/.credentials.json",
                                                 ".codex/auth.json",
                                                 ".gemini/oauth_creds.json"};
  return paths;
}

}  // namespace escrow::sandbox

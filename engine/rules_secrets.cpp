#include <algorithm>

#include "engine/lazy_regex.h"
#include "engine/rules.h"
#include "engine/secrets.h"
#include "engine/text.h"

namespace escrow::engine {
namespace {

constexpr LanguageMask kBareValues = Language::ini | Language::yaml | Language::shell | Language::dockerfile |
                                     Language::makefile | Language::xml | Language::prose | Language::other;

bool is_template(std::string_view name) {
  return ends_in_any(name, {".example", ".sample", ".template", ".dist", ".tmpl", ".defaults", ".test", ".ci",
                            ".schema", ".enc", ".sops"}) ||
         name.find("example") != std::string_view::npos || name.find("sample") != std::string_view::npos;
}

/// Files that hold secrets by their purpose.
bool is_secret_file(const PathFacts& facts) {
  const std::string_view path = facts.lower, name = base_name(path);
  if (is_template(name)) return false;
  if (name == ".env" || name.starts_with(".env.") || name.ends_with(".env")) return true;
  if (ends_in_any(name, {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx", ".ovpn", ".tfvars",
                         ".tfvars.json", ".tfstate", ".p8", ".asc.key", ".agekey"})) {
    return true;
  }
  if (name.starts_with("id_rsa") || name.starts_with("id_ed25519") || name.starts_with("id_ecdsa") ||
      name.starts_with("id_dsa")) {
    return !name.ends_with(".pub");
  }
  constexpr std::array kNames{".npmrc",
                              ".pypirc",
                              ".netrc",
                              "_netrc",
                              ".pgpass",
                              ".my.cnf",
                              ".htpasswd",
                              ".git-credentials",
                              "credentials",
                              "credentials.json",
                              "credentials.yml",
                              "secrets.yml",
                              "secrets.yaml",
                              "secrets.json",
                              "secrets.toml",
                              "secret.yaml",
                              "kubeconfig",
                              "service-account.json",
                              "serviceaccount.json",
                              "service_account.json",
                              "terraform.tfstate",
                              ".dockercfg",
                              "master.key",
                              ".vault-token",
                              "auth.json",
                              "token.json",
                              "google-services.json"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return path.ends_with(".docker/config.json") || path.ends_with(".kube/config") || path.ends_with(".aws/config");
}

std::uint32_t first_added_line(const FileView& file) {
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind == LineKind::added) return line.new_line;
    }
  }
  return 0;
}

/// A certificate is public however its file is called.
bool is_public_certificate(const FileView& file) {
  bool certificate = false, key = false;
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      certificate = certificate || line.text.find("BEGIN CERTIFICATE") != std::string::npos ||
                    line.text.find("BEGIN PUBLIC KEY") != std::string::npos;
      key = key || line.text.find("PRIVATE KEY") != std::string::npos;
    }
  }
  return certificate && !key;
}

/// `.npmrc` holds options as often as tokens; options are no secret.
bool holds_options_only(const FileView& file) {
  static const LazyRegex credential(R"re((?i)auth|token|passw|secret|cert|\bkey\b|username|email|registry|//)re");
  if (base_name(file.facts.lower) != ".npmrc" || file.patch->binary) return false;
  return std::none_of(file.hunks.begin(), file.hunks.end(), [](const HunkView& hunk) {
    return std::any_of(hunk.lines().begin(), hunk.lines().end(), [](const DiffLine& line) {
      return line.kind == LineKind::added && credential.matches(line.text);
    });
  });
}

void find_secret_file(const FileView& file, Findings& findings) {
  if (file.patch->status == FileStatus::deleted || !is_secret_file(file.facts) || is_public_certificate(file)) return;
  if (holds_options_only(file)) return;
  const std::uint32_t line = first_added_line(file);
  const bool gains_content = line != 0 || file.patch->binary || file.patch->status == FileStatus::added;
  if (gains_content) findings.add(file, {.rule = "secret-file", .line = line});
}

/// A token that was there before on another line of the hunk is not added by this change.
bool was_there(const HunkView& hunk, std::string_view secret) {
  return hunk.has_removed() && std::any_of(hunk.lines().begin(), hunk.lines().end(), [&](const DiffLine& line) {
           return line.kind == LineKind::removed && line.text.find(secret) != std::string::npos;
         });
}

bool counts_here(const PathFacts& facts, const SecretMatch& match) {
  if (match.certainty == SecretCertainty::exact) {
    // Prose and fixtures show addresses with made-up passwords.
    const bool chosen = match.kind == "password in a URL" || match.kind == "connection string password";
    return !(chosen && facts.has(kDocs | kTest));
  }
  return !facts.has(kTest | kDocs | kLockfile | kGenerated);
}

void find_in_line(const FileView& file, const HunkView& hunk, const DiffLine& line, Findings& findings) {
  const bool bare = (bit(file.facts.language) & kBareValues) != 0;
  std::vector<SecretMatch> matches = find_secrets(line.text, bare ? BareValues::count : BareValues::ignored);
  if (matches.empty()) matches = find_split_secrets(line.text);
  for (const SecretMatch& match : matches) {
    const std::string_view secret = std::string_view(line.text).substr(match.begin, match.end - match.begin);
    if (!counts_here(file.facts, match) || was_there(hunk, secret)) continue;
    findings.add(file, {.rule = "secret-literal",
                        .line = line.new_line,
                        .message = describe_secret(line.text, match) + " in plain text"});
  }
}

}  // namespace

void find_secrets_in_file(const FileView& file, Findings& findings) {
  find_secret_file(file, findings);
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind == LineKind::added) find_in_line(file, hunk, line, findings);
    }
  }
}

}  // namespace escrow::engine

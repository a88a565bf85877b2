#include "engine/line_topics.h"

#include <initializer_list>

#include "engine/needle_index.h"

namespace escrow::engine {
namespace {

NeedleIndex index_of_topics() {
  NeedleIndex index;
  const auto add = [&](Topic topic, std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) index.add(word, static_cast<NeedleIndex::Id>(topic));
  };
  add(Topic::scanner_mark, {"nolint",
                            "nosec",
                            "nosemgrep",
                            "nosonar",
                            "noqa",
                            "eslint-disable",
                            "suppresswarnings",
                            "allowlist secret",
                            "gitleaks:",
                            "trufflehog:",
                            "checkov:",
                            "tfsec:",
                            "trivy:",
                            "kics-",
                            "brakeman",
                            "codeql[",
                            "lgtm[",
                            "zizmor:",
                            "phpstan-ignore",
                            "rubocop:disable",
                            "allow(unsafe",
                            "scs",
                            "#pragma"});
  add(Topic::hash_or_random, {"md5", "sha1", "sha-1", "rand", "uniqid", "sha2", "sha5", "sha3"});
  add(Topic::socket, {"socket", ".connect", "net.", "tcpstream", "tcpclient", "fsockopen", "create_connection",
                      "sockaddr_in", "gen_tcp"});
  add(Topic::shell, {"sh\"", "sh'", "sh -i", "\"cmd", "'cmd", "powershell", "pty.", "execl", "bin/sh", "bin/bash",
                     "iex", "invoke-expr", "popen(", "os.execute"});
  add(Topic::wiring, {"dup2", "fileno", "stdin", "stdout", "stderr", ".pipe", "stdio", "inputstream", "outputstream",
                      "redirectstandard", "raw_fd", "hstd", ">& std", ">&std", "=>", "getstream", "send(", "out: "});
  add(Topic::download, {"curl", "wget", "urlretrieve", "download", "bitstransfer", "webrequest", "iwr", "irm", "http",
                        "requests.get", "urlopen", "reqwest", "fetch", "aria2c"});
  add(Topic::run_of_file, {"chmod", "set_mode", "sh ", "./", "start-process", "exec", "spec_from_file"});
  add(Topic::harvest, {"env",        "home",       "/root",   "expanduser",   ".ssh",      ".aws",       "id_rsa",
                       "id_ed25519", ".netrc",     ".kube",   "/etc/",        ".git-cred", "login data", "cookie",
                       "key4.db",    "keychain",   "169.254", "find-generic", "wallet",    "storage",    "find-inter",
                       "clipboard",  "git config", "history", "password",     "wallet.dat"});
  add(Topic::sending,
      {"requests.", "httpx",   "urlopen",  "urllib",    "http",    "fetch", "axios",     "beacon",  "websocket",
       "image",     ".src",    "curl",     "wget",      "nc ",     "ncat",  "socket",    "sendall", "sendto",
       ".connect",  "smtplib", "sendmail", "net.dial",  "reqwest", "ureq",  "tcpstream", "net::",   "openconnection",
       "invoke-",   "upload",  "dns.",     "gethostby", "got",     "undici"});
  add(Topic::decoder, {"fromcharcode", "atob", "decode", "fromhex", "unhexlify", "buffer.from", "bytes", "chr",
                       "inflate", "decompress", "base64", "unescape", "fromcodepoint"});
  add(Topic::execution, {"eval", "exec", "function", "assert", "load", "marshal", "os.system", "subprocess",
                         "child_process", "defineclass", "require", "_compile", "virtualprotect", "(void"});
  add(Topic::verified, {"sha256", "sha512", "shasum", "gpg", "cosign", "minisign", "filehash"});
  add(Topic::equality, {"==", ".eq"});
  add(Topic::reference, {"rev:", "ref=", "source", "raw.github", "npx", "bunx", "dlx", "uvx", "pipx", "go install",
                         "cargo install", "from ", "image"});
  add(Topic::access,
      {"login",     "logged", "auth",   "perm",    "role",   "admin",   "staff",    "user_passes", "secured", "require",
       "jwt",       "token",  "ensure", "check",   "assert", "verify",  "validate", "enforce",     "must",    "protect",
       "guard",     "owner",  "access", "allowed", "super",  "member",  "scope",    "can",         "may",     "has",
       "req",       "time",   "cmp",    "digest",  "equal",  "compare", "secur",    "bcrypt",      "401",     "403",
       "forbidden", "denied", "pundit", "acl.",    "action", "is"});
  add(Topic::identity, {"user", "owner", "tenant", "account", "org", "principal"});
  add(Topic::validation,
      {"escape",    "saniti",    "strip_tags", "htmlspecial", "htmlent",     "bleach",    "purify",    "encodeuri",
       "urlencode", "quote",     "param",      "filename",    "lastpathc",   ".host",     ".origin",   "basename",
       "filepath",  "realpath",  "relative",   "canonical",   "safe",        "valid",     "clean",     "schema.",
       "zod",       "joi",       "ajv",        "yup",         "bound",       "clamp",     "limit",     "throttl",
       "csrf",      "forgery",   "helmet",     "x-frame",     "content-sec", "strict-tr", "nosniff",   "http",
       "same",      "secure",    "max",        "checksum",    "verify",      "reader",    "prepared",  "min",
       "@size",     "@pattern",  "@email",     "@not",        "symlink",     "trusted",   "whitelist", "blacklist",
       "allowlist", "blocklist", "denylist",   "allow_list",  "deny_list",   "loopback",  "private",   "local",
       "proto",     "[^",        "gsub",       "replace",     "trim",        "--",        "timeout",   "deadline",
       "redact",    "mask",      "sensitive",  "normali",     "traversal",   "inspect",   "hasown",    "%q"});
  add(Topic::constant, {"true", "nil", "none", "null", "ok(", "next(", "resolve", "return", "pass"});
  add(Topic::condition, {"if",      "unless", "while", "for",     "return",  "assert", "guard",  "when",   "require",
                         "&&",      "||",     "?",     "==",      "!=",      "ensure", "check",  "bug_on", "warn_on",
                         "precond", "throw",  "raise", "notnull", "nonnull", "ok_or",  "orfail", "or_404"});
  add(Topic::assertion, {"assert", "expect", "require", "t.", "should", "check", "verify", "raises", "ok", "is", "test",
                         "it", "specify", "scenario", "fact", "theory", ".to."});
  add(Topic::test_mark,
      {"skip", "xfail", "expectedfailure", "todo", "only", "failing", "fixme", "xit", "xdescribe", "xtest", "xcontext",
       "fit", "fdescribe", "disabled", "ignore", "pending", "incomplete", "enabled", "cfg("});
  index.build();
  return index;
}

}  // namespace

TopicMask topics_of(std::string_view line) {
  static const NeedleIndex index = index_of_topics();
  return index.mask_of(line);
}

}  // namespace escrow::engine

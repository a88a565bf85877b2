#include "engine/secrets.h"

#include <string>
#include <vector>

#include "engine/redact.h"
#include "tests/catch.h"
#include "tests/engine/diff_case.h"

// No token stands here whole: each is put together when the test runs, so that scanners find none in the repository.

namespace escrow::engine {
namespace {

/// `length` characters that look drawn from the alphabet at random, and are the same every time.
std::string noise(std::size_t length,
                  std::string_view alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  std::string out;
  std::uint32_t state = 12345;
  while (out.size() < length) {
    state = state * 1664525U + 1013904223U;
    out += alphabet[(state >> 16) % alphabet.size()];
  }
  return out;
}
const std::string kHex = "0123456789abcdef";
const std::string kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

std::vector<std::string> kinds_in(const std::string& text, BareValues bare = BareValues::ignored) {
  std::vector<std::string> kinds;
  for (const SecretMatch& match : find_secrets(text, bare)) kinds.emplace_back(match.kind);
  return kinds;
}

TEST_CASE("providers' formats are recognised") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"AWS access key id",
       "AKI"
       "A" +
           noise(16, kUpper)},
      {"GitHub token",
       "gh"
       "p_" +
           noise(36)},
      {"GitHub token",
       "gh"
       "s_" +
           noise(36)},
      {"GitHub fine-grained token",
       "github"
       "_pat_" +
           noise(22) + "_" + noise(59)},
      {"GitLab token",
       "gl"
       "pat-" +
           noise(20)},
      {"Slack token",
       "xo"
       "xb-" +
           noise(12, "0123456789") + "-" + noise(24)},
      {"Slack webhook",
       "https://hooks.slack"
       ".com/services/T" +
           noise(8, kUpper) + "/B" + noise(8, kUpper) + "/" + noise(24)},
      {"Discord webhook",
       "https://discord"
       ".com/api/webhooks/" +
           noise(18, "0123456789") + "/" + noise(68)},
      {"Telegram bot token", noise(9, "123456789") +
                                 ":A"
                                 "A" +
                                 noise(33)},
      {"Stripe live key",
       "sk"
       "_live_" +
           noise(24)},
      {"Google API key",
       "AI"
       "za" +
           noise(35)},
      {"npm token",
       "np"
       "m_" +
           noise(36)},
      {"PyPI token",
       "pyp"
       "i-AgE" +
           noise(60)},
      {"RubyGems key",
       "ruby"
       "gems_" +
           noise(48, kHex)},
      {"Docker Hub token",
       "dck"
       "r_pat_" +
           noise(27)},
      {"OpenAI key",
       "sk-pr"
       "oj-" +
           noise(20) +
           "T3Blbk"
           "FJ" +
           noise(20)},
      {"Anthropic key",
       "sk-a"
       "nt-api03-" +
           noise(90)},
      {"Hugging Face token",
       "h"
       "f_" +
           noise(34)},
      {"Databricks token",
       "dap"
       "i" +
           noise(32, kHex)},
      {"DigitalOcean token",
       "do"
       "p_v1_" +
           noise(64, kHex)},
      {"Shopify token",
       "shp"
       "at_" +
           noise(32, kHex)},
      {"Twilio key",
       "S"
       "K" +
           noise(32, kHex)},
      {"SendGrid key",
       "S"
       "G." +
           noise(22) + "." + noise(43)},
      {"Mailgun key",
       "ke"
       "y-" +
           noise(32, kHex)},
      {"Vault token",
       "hv"
       "s." +
           noise(90)},
      {"Terraform Cloud token", noise(14) +
                                    ".atlas"
                                    "v1." +
                                    noise(67)},
      {"Grafana token",
       "gl"
       "sa_" +
           noise(32) + "_" + noise(8, kHex)},
      {"Linear key",
       "lin"
       "_api_" +
           noise(40)},
      {"Azure storage key",
       "Account"
       "Key=" +
           noise(86) + "=="},
      {"JSON web token",
       "ey"
       "J" +
           noise(20) +
           ".ey"
           "J" +
           noise(30) + "." + noise(43)},
      {"private key",
       "-----BEGIN RSA PRI"
       "VATE KEY-----"},
      {"private key",
       "-----BEGIN OPENSSH PRI"
       "VATE KEY-----"},
      {"age secret key",
       "AGE-SEC"
       "RET-KEY-1" +
           noise(58, kUpper)},
      {"connection string password", "Server=db.internal;User Id=app;Password=" + noise(12) + ";"},
      {"connection string password", "Data Source=db;Initial Catalog=x;Uid=app;Pwd=" + noise(12)},
      {"password in a URL", "postgres://app:" + noise(18) + "@db.internal:5432/shop"},
      {"bearer token",
       "Authorization: Bea"
       "rer " +
           noise(40)},
  };
  for (const auto& [kind, token] : cases) {
    INFO(kind << ": " << token);
    CHECK(kinds_in("x = \"" + token + "\"") == std::vector<std::string>{kind});
  }
}

TEST_CASE("a random value given to a secret-like name is a secret") {
  const std::string value = "2Xj" + noise(15);
  CHECK(kinds_in("password := \"" + value + "\"").size() == 1);
  CHECK(kinds_in("  \"client_secret\": \"" + value + "\",").size() == 1);
  CHECK(kinds_in("if (password.equals(\"" + value + "\")) return true;").size() == 1);
  CHECK(kinds_in("aws_secret_access_key = \"" + noise(40) + "\"").size() == 1);
  CHECK(kinds_in("DB_PASSWORD=" + value, BareValues::count).size() == 1);
  CHECK(kinds_in("DB_PASSWORD=" + value, BareValues::ignored).empty());
}

TEST_CASE("placeholders, references, words and numbers are no secrets") {
  for (const std::string& line : std::vector<std::string>{
           "API_TOKEN=your-token-here", "DB_PASSWORD=changeme", "JWT_SECRET=<generate me>",
           std::string("AWS_ACCESS_KEY_ID=AKI") + "AIOSFODNN7EXAMPLE", "token = os.environ[\"GITHUB_TOKEN\"]",
           "password: ${DB_PASSWORD}", "password = \"correct horse battery\"", "secret: {{ vault_secret }}",
           "tok := l.scanToken()", "secretary = ForeignKey(User)", "token_kind = \"TOKEN_IDENT_12\"",
           "url = \"postgres://user:pass@localhost/db\"", "password = getpass.getpass()", "key = %(API_KEY)s",
           "SECRET_KEY = \"xxxxxxxxxxxxxxxxxxxxxxxx\"", "passwords = [\"12345678\"]",
           "git remote add x https://x-access-token:${TOKEN}@example.org/r.git", "tokens: 1234567890123",
           "author: \"someone@example.org\""}) {
    INFO(line);
    CHECK(kinds_in(line, BareValues::count).empty());
  }
}

TEST_CASE("a secret in pieces is still one") {
  CHECK(find_split_secrets("[\"sk_\", \"li"
                           "ve_\", \"" +
                           noise(30) + "\"].concat()")
            .size() == 1);
  CHECK(find_split_secrets("t = 'gh' + 'p_' + '" + noise(36) + "'").size() == 1);
  CHECK(find_split_secrets("f(\"a\", \"b\", \"c\")").empty());
}

TEST_CASE("no message ever holds a whole secret") {
  const std::string token =
      "gh"
      "p_" +
      noise(36);
  const std::string password = noise(18);
  const std::string diff = testing::make_diff(
      "app/settings.py", "+TOKEN = \"" + token + "\"\n+URL = \"postgres://app:" + password + "@db.prod:5432/x\"\n");
  const PatchEvaluation result = testing::judge(diff);
  REQUIRE(result.risk.signals.size() == 2);
  for (const Signal& signal : result.risk.signals) {
    CHECK(signal.message.find(token.substr(0, 12)) == std::string::npos);
    CHECK(signal.message.find(password.substr(0, 6)) == std::string::npos);
  }
}

TEST_CASE("redaction replaces secrets and leaves the rest") {
  const std::string token =
      "gh"
      "p_" +
      noise(36);
  CHECK(redact("push with " + token + " now") ==
        "push with gh"
        "p_…[redacted] now");
  CHECK(redact("password=" + noise(18)) == "password=…[redacted]");
  CHECK(redact("nothing here") == "nothing here");
  CHECK(redact(redact("a " + token)) == redact("a " + token));
  const std::string key =
      "-----BEGIN RSA PRI"
      "VATE KEY-----\n" +
      noise(64) +
      "\n-----END RSA PRI"
      "VATE KEY-----\nafter";
  CHECK(redact(key) == "[redacted private key]\nafter");
}

}  // namespace
}  // namespace escrow::engine

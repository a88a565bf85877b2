#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace escrow::engine {

/// How sure a finding is.
enum class SecretCertainty {
  exact,    ///< a provider's own format, a private key, a password in a URL
  assigned  ///< a random-looking value given to a secret-like name
};

struct SecretMatch {
  std::string_view kind;           ///< `GitHub token`; a static text
  std::size_t begin = 0, end = 0;  ///< the secret itself in the text
  SecretCertainty certainty = SecretCertainty::exact;
};

/// Whether an unquoted value can be a secret: in settings and shell text it can, in program text it is a name.
enum class BareValues { ignored, count };

/// Secrets in a piece of text (a line, or many), leftmost first, not overlapping. Placeholders, documented example
/// keys, references (`${TOKEN}`, `env("TOKEN")`) and words are no secrets. Linear.
std::vector<SecretMatch> find_secrets(std::string_view text, BareValues bare);

/// The same for a line whose secret is pieced together from adjacent literals (`"sk_" + "live_" + …`); the match spans
/// from the first piece to the last.
std::vector<SecretMatch> find_split_secrets(std::string_view line);

/// How many of its first characters a provider's format fixes, so that they say what it was and give nothing away; zero
/// for a value that anyone could have chosen.
std::size_t shown_prefix(const SecretMatch& match);

/// `GitHub token ghp_…`: names a match without giving it away (at most four of its characters).
std::string describe_secret(std::string_view text, const SecretMatch& match);

}  // namespace escrow::engine

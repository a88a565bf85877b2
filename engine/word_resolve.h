#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shell.h"

/// One word of source text as the words bash would make of it.
namespace escrow::engine {

/// Values of variables set to plain text earlier in the same line. A loop variable may stand for several words; an
/// empty list means "assigned, value unknown".
using KnownVariables = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Quote removal, ANSI-C quoting, escapes, known variables, `$IFS` splitting and brace expansion. Empty where bash
/// would make no word of it (`$e`, where e is empty). `offset` is where `source` begins in the text that spans refer
/// to.
std::vector<Word> resolve_words(std::string_view source, std::size_t offset, const KnownVariables& variables);

/// The same without splitting or brace expansion, as in an assignment or a redirect target.
Word resolve_one(std::string_view source, std::size_t offset, const KnownVariables& variables);

/// The body of a here-document as its reader sees it; `literal` if any of the delimiter was quoted.
Word resolve_here_document(std::string_view body, bool literal);

/// The index after the word that begins at `at`; npos if a quote in it is not closed.
std::size_t skip_word(std::string_view text, std::size_t at);

/// The index after the `$…`, `` `…` `` or `<(…)` that begins at `at`; the end of the text if it is not closed.
std::size_t skip_expansion(std::string_view text, std::size_t at);

/// The index after the quoted text that begins at `at` (`'`, `"` or `$'`); npos if it is not closed.
std::size_t skip_quoted(std::string_view text, std::size_t at);

}  // namespace escrow::engine

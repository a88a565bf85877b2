#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/signal.h"

namespace escrow::engine {

/// `text` with every recognised secret replaced by its kind and first characters (`ghp_…[redacted]`).
std::string redact(std::string_view text);

/// The same for a text that comes in pieces, cut between lines. `in_key` carries the block of a private key from one
/// piece to the next; false at the start.
std::string redact_piece(std::string_view piece, bool& in_key);

/// Hidden, bidirectional and control characters as visible escapes (`\u202e`, `\x1b`); '\n' and '\t' kept.
std::string make_visible(std::string_view text);

/// One line that no terminal reads as anything else, at most `max` bytes, cut at a character. Not escaped for Markdown:
/// whatever holds it is sent as plain text.
std::string one_line(std::string_view text, std::size_t max = 200);

/// What a command's output holds that a model or a person should be warned of (secrets, prompt injection, hidden
/// characters). Lines are those of the output.
std::vector<Signal> scan_output(std::string_view text);

}  // namespace escrow::engine

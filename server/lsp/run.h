#pragma once

#include <string>

namespace escrow::server::lsp {

/// `escrow lsp`: serves one client on stdin and stdout until it exits, closes the pipe, or dies.
/// @return the process's exit code: 0 after shutdown and exit, else 1.
int run(const std::string& version);

}  // namespace escrow::server::lsp

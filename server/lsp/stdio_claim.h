#pragma once

namespace escrow::server::lsp {

/// Takes the real standard output for the protocol alone: moves it to a private descriptor that no child inherits, and
/// points descriptor 1 at standard error, so that no library and no child can write into the stream. Call it before
/// anything is started. @return the private descriptor, owned by the caller; -1 with errno if there is no stdout.
int claim_stdout();

/// The same for standard input; descriptor 0 becomes /dev/null. A child that held it would keep the editor's pipe open.
int claim_stdin();

}  // namespace escrow::server::lsp

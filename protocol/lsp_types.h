#pragma once

/// All the LSP types Escrow uses. Include the part you need where that is enough.
#include "protocol/lsp_basic.h"       // IWYU pragma: export
#include "protocol/lsp_documents.h"   // IWYU pragma: export
#include "protocol/lsp_edit.h"        // IWYU pragma: export
#include "protocol/lsp_features.h"    // IWYU pragma: export
#include "protocol/lsp_initialize.h"  // IWYU pragma: export
#include "protocol/lsp_window.h"      // IWYU pragma: export
#include "protocol/lsp_workspace.h"   // IWYU pragma: export

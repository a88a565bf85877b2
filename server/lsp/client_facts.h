#pragma once

#include <set>
#include <string>

#include "protocol/escrow_capabilities.h"
#include "protocol/lsp_initialize.h"
#include "server/lsp/positions.h"

namespace escrow::server::lsp {

/// What of a client's capabilities changes what Escrow sends. Read once, at `initialize`.
struct ClientFacts {
  PositionEncoding encoding = PositionEncoding::utf16;  ///< negotiated: utf-8 if offered, else utf-16
  bool related_information = false;
  bool code_description = false;
  bool code_action_literals = false;  ///< else only bare Commands may be answered
  bool markdown_hover = false;
  bool progress = false;         ///< window/workDoneProgress/create may be sent
  bool message_request = false;  ///< window/showMessageRequest with actions
  bool show_document = false;
  bool apply_edit = false;
  bool text_document_content = false;   ///< 3.18: virtual documents by workspace/textDocumentContent
  std::set<std::string> notifications;  ///< groups of escrow/… notifications the client wants
};

ClientFacts read_client_facts(const protocol::InitializeParams& params,
                              const std::optional<protocol::EscrowClientCapabilities>& escrow);

}  // namespace escrow::server::lsp

#include "server/lsp/client_facts.h"

#include <algorithm>

namespace escrow::server::lsp {
namespace {

bool is_set(const std::optional<bool>& flag) {
  return flag.value_or(false);
}

bool offers(const std::optional<std::vector<std::string>>& list, std::string_view wanted) {
  return list && std::find(list->begin(), list->end(), wanted) != list->end();
}

void read_text_document(const protocol::TextDocumentClientCapabilities& client, ClientFacts& facts) {
  if (client.publishDiagnostics) {
    facts.related_information = is_set(client.publishDiagnostics->relatedInformation);
    facts.code_description = is_set(client.publishDiagnostics->codeDescriptionSupport);
  }
  if (client.codeAction) facts.code_action_literals = !client.codeAction->codeActionLiteralSupport.is_null();
  if (client.hover) facts.markdown_hover = offers(client.hover->contentFormat, "markdown");
}

void read_window(const protocol::WindowClientCapabilities& client, ClientFacts& facts) {
  facts.progress = is_set(client.workDoneProgress);
  facts.message_request = !client.showMessage.is_null();
  facts.show_document = client.showDocument && is_set(client.showDocument->support);
}

}  // namespace

ClientFacts read_client_facts(const protocol::InitializeParams& params,
                              const std::optional<protocol::EscrowClientCapabilities>& escrow) {
  ClientFacts facts;
  const auto& client = params.capabilities;
  if (client.textDocument) read_text_document(*client.textDocument, facts);
  if (client.window) read_window(*client.window, facts);
  if (client.workspace) {
    facts.apply_edit = is_set(client.workspace->applyEdit);
    facts.text_document_content = client.workspace->textDocumentContent.has_value();
  }
  if (client.general) facts.encoding = choose_encoding(client.general->positionEncodings);
  if (escrow && escrow->notifications) {
    facts.notifications.insert(escrow->notifications->begin(), escrow->notifications->end());
  }
  return facts;
}

}  // namespace escrow::server::lsp

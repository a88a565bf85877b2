#include "server/documents.h"

#include <algorithm>

#include "server/lsp/uri.h"

namespace escrow::server {

const Document& Documents::open(const protocol::TextDocumentItem& item) {
  Document& document = documents_[lsp::document_key(item.uri)];
  document = Document{.uri = item.uri,
                      .path = lsp::to_path(item.uri).value_or(""),
                      .languageId = item.languageId,
                      .version = item.version,
                      .text = item.text,
                      .edited = false,
                      .last_use = ++uses_};
  return document;
}

const Document* Documents::change(const protocol::DidChangeTextDocumentParams& params, lsp::PositionEncoding encoding) {
  const auto found = documents_.find(lsp::document_key(params.textDocument.uri));
  if (found == documents_.end()) return nullptr;
  Document& document = found->second;
  lsp::apply_changes(document.text, params.contentChanges, encoding);
  document.version = params.textDocument.version;
  document.edited = true;
  document.last_use = ++uses_;
  return &document;
}

const Document* Documents::save(const protocol::DidSaveTextDocumentParams& params) {
  const auto found = documents_.find(lsp::document_key(params.textDocument.uri));
  if (found == documents_.end()) return nullptr;
  if (params.text) found->second.text = *params.text;
  found->second.edited = false;
  return &found->second;
}

bool Documents::close(std::string_view uri) {
  return documents_.erase(lsp::document_key(uri)) > 0;
}

void Documents::touch(std::string_view uri) {
  const auto found = documents_.find(lsp::document_key(uri));
  if (found != documents_.end()) found->second.last_use = ++uses_;
}

const Document* Documents::find(std::string_view uri) const {
  const auto found = documents_.find(lsp::document_key(uri));
  return found == documents_.end() ? nullptr : &found->second;
}

const Document* Documents::find_path(std::string_view path) const {
  const auto found = documents_.find(lsp::path_key(path));
  return found == documents_.end() ? nullptr : &found->second;
}

std::vector<const Document*> Documents::by_last_use() const {
  std::vector<const Document*> out;
  for (const auto& [key, document] : documents_) out.push_back(&document);
  std::sort(out.begin(), out.end(), [](const Document* a, const Document* b) { return a->last_use > b->last_use; });
  return out;
}

protocol::Uri Documents::uri_of(std::string_view path) const {
  const Document* document = find_path(path);
  return document ? document->uri : lsp::to_uri(path);
}

}  // namespace escrow::server

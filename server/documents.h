#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/lsp_documents.h"
#include "server/lsp/positions.h"

namespace escrow::server {

/// A document the client has open, as it last told us. The client's text is the truth, whatever the disk says.
struct Document {
  protocol::Uri uri;  ///< the client's own spelling: everything sent about the document uses it
  std::string path;   ///< absolute and decoded; empty if the URI is not a file's
  std::string languageId;
  std::int32_t version = 0;
  std::string text;
  bool edited = false;         ///< changed since it was opened or saved; what the disk has is for the reader to see
  std::uint64_t last_use = 0;  ///< larger is later; for opening, changing and touching
};

/// The open documents, found by any spelling of their URI. Loop thread only.
class Documents {
 public:
  /// Opening what is open replaces it.
  const Document& open(const protocol::TextDocumentItem& item);
  /// The changed document; null if it is not open (a client's mistake, to be logged).
  const Document* change(const protocol::DidChangeTextDocumentParams& params, lsp::PositionEncoding encoding);
  const Document* save(const protocol::DidSaveTextDocumentParams& params);
  /// False if it was not open.
  bool close(std::string_view uri);
  /// The person looked at it: it becomes the latest.
  void touch(std::string_view uri);

  /// Valid until the document is closed; null if it is not open.
  const Document* find(std::string_view uri) const;
  /// By absolute path.
  const Document* find_path(std::string_view path) const;
  /// The latest opened, changed or touched first.
  std::vector<const Document*> by_last_use() const;
  /// The client's spelling for an open document, ours for any other file.
  protocol::Uri uri_of(std::string_view path) const;

 private:
  std::map<std::string, Document, std::less<>> documents_;  // by lsp::document_key
  std::uint64_t uses_ = 0;
};

}  // namespace escrow::server

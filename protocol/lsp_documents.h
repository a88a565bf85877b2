#pragma once

#include "protocol/lsp_basic.h"

/// Text document synchronisation (LSP 3.17). Members have the wire's spelling.
namespace escrow::protocol {

struct TextDocumentItem {
  Uri uri;
  std::string languageId;
  std::int32_t version = 0;
  std::string text;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("languageId", self.languageId);
    f.required("version", self.version);
    f.required("text", self.text);
  }
  bool operator==(const TextDocumentItem&) const = default;
};

struct DidOpenTextDocumentParams {
  TextDocumentItem textDocument;
  static void fields(auto& f, auto& self) { f.required("textDocument", self.textDocument); }
  bool operator==(const DidOpenTextDocumentParams&) const = default;
};

/// Without a range the text is the whole document.
struct TextDocumentContentChangeEvent {
  std::optional<Range> range;
  std::string text;
  static void fields(auto& f, auto& self) {
    f.optional("range", self.range);
    f.required("text", self.text);
  }
  bool operator==(const TextDocumentContentChangeEvent&) const = default;
};

struct DidChangeTextDocumentParams {
  VersionedTextDocumentIdentifier textDocument;
  std::vector<TextDocumentContentChangeEvent> contentChanges;  ///< each applies to the text the one before left
  static void fields(auto& f, auto& self) {
    f.required("textDocument", self.textDocument);
    f.required("contentChanges", self.contentChanges);
  }
  bool operator==(const DidChangeTextDocumentParams&) const = default;
};

struct DidSaveTextDocumentParams {
  TextDocumentIdentifier textDocument;
  std::optional<std::string> text;
  static void fields(auto& f, auto& self) {
    f.required("textDocument", self.textDocument);
    f.optional("text", self.text);
  }
  bool operator==(const DidSaveTextDocumentParams&) const = default;
};

struct DidCloseTextDocumentParams {
  TextDocumentIdentifier textDocument;
  static void fields(auto& f, auto& self) { f.required("textDocument", self.textDocument); }
  bool operator==(const DidCloseTextDocumentParams&) const = default;
};

/// workspace/textDocumentContent (LSP 3.18): the text of a virtual document.
struct TextDocumentContentParams {
  Uri uri;
  static void fields(auto& f, auto& self) { f.required("uri", self.uri); }
  bool operator==(const TextDocumentContentParams&) const = default;
};

struct TextDocumentContentResult {
  std::string text;
  static void fields(auto& f, auto& self) { f.required("text", self.text); }
  bool operator==(const TextDocumentContentResult&) const = default;
};

}  // namespace escrow::protocol

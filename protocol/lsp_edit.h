#pragma once

#include "protocol/lsp_basic.h"

/// LSP's edits (LSP 3.17, "WorkspaceEdit"). Members have the wire's spelling.
namespace escrow::protocol {

/// An insertion has an empty range, a deletion an empty text.
struct TextEdit {
  Range range;
  std::string newText;
  static void fields(auto& f, auto& self) {
    f.required("range", self.range);
    f.required("newText", self.newText);
  }
  bool operator==(const TextEdit&) const = default;
};

struct TextDocumentEdit {
  OptionalVersionedTextDocumentIdentifier textDocument;
  std::vector<TextEdit> edits;
  static void fields(auto& f, auto& self) {
    f.required("textDocument", self.textDocument);
    f.required("edits", self.edits);
  }
  bool operator==(const TextDocumentEdit&) const = default;
};

struct CreateFile {
  struct Options {
    std::optional<bool> overwrite, ignoreIfExists;
    static void fields(auto& f, auto& self) {
      f.optional("overwrite", self.overwrite);
      f.optional("ignoreIfExists", self.ignoreIfExists);
    }
    bool operator==(const Options&) const = default;
  };
  Uri uri;
  std::optional<Options> options;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "create");
    f.required("uri", self.uri);
    f.optional("options", self.options);
  }
  bool operator==(const CreateFile&) const = default;
};

struct RenameFile {
  Uri oldUri, newUri;
  std::optional<CreateFile::Options> options;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "rename");
    f.required("oldUri", self.oldUri);
    f.required("newUri", self.newUri);
    f.optional("options", self.options);
  }
  bool operator==(const RenameFile&) const = default;
};

struct DeleteFile {
  struct Options {
    std::optional<bool> recursive, ignoreIfNotExists;
    static void fields(auto& f, auto& self) {
      f.optional("recursive", self.recursive);
      f.optional("ignoreIfNotExists", self.ignoreIfNotExists);
    }
    bool operator==(const Options&) const = default;
  };
  Uri uri;
  std::optional<Options> options;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "delete");
    f.required("uri", self.uri);
    f.optional("options", self.options);
  }
  bool operator==(const DeleteFile&) const = default;
};

/// One entry of documentChanges: the three file operations carry a `kind`, the text edit has none.
using DocumentChange = std::variant<TextDocumentEdit, CreateFile, RenameFile, DeleteFile>;
bool from_json(const json::value& value, DocumentChange& out, const Path& path);
json::value to_json(const DocumentChange& change);

struct WorkspaceEdit {
  std::optional<std::map<Uri, std::vector<TextEdit>>> changes;
  std::optional<std::vector<DocumentChange>> documentChanges;
  static void fields(auto& f, auto& self) {
    f.optional("changes", self.changes);
    f.optional("documentChanges", self.documentChanges);
  }
  bool operator==(const WorkspaceEdit&) const = default;
};

/// workspace/applyEdit. No `metadata`: some clients refuse keys they do not know.
struct ApplyWorkspaceEditParams {
  std::optional<std::string> label;
  WorkspaceEdit edit;
  static void fields(auto& f, auto& self) {
    f.optional("label", self.label);
    f.required("edit", self.edit);
  }
  bool operator==(const ApplyWorkspaceEditParams&) const = default;
};

struct ApplyWorkspaceEditResult {
  bool applied = false;
  std::optional<std::string> failureReason;
  std::optional<std::uint32_t> failedChange;
  static void fields(auto& f, auto& self) {
    f.required("applied", self.applied);
    f.optional("failureReason", self.failureReason);
    f.optional("failedChange", self.failedChange);
  }
  bool operator==(const ApplyWorkspaceEditResult&) const = default;
};

}  // namespace escrow::protocol

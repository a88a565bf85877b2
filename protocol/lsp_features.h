#pragma once

#include "protocol/lsp_edit.h"

/// Diagnostics, code actions, code lenses, hovers (LSP 3.17). Members have the wire's spelling.
namespace escrow::protocol {

enum class DiagnosticSeverity { error = 1, warning = 2, information = 3, hint = 4 };
constexpr std::pair<int, int> wire_range(DiagnosticSeverity) {
  return {1, 4};
}

struct CodeDescription {
  Uri href;
  static void fields(auto& f, auto& self) { f.required("href", self.href); }
  bool operator==(const CodeDescription&) const = default;
};

struct DiagnosticRelatedInformation {
  Location location;
  std::string message;
  static void fields(auto& f, auto& self) {
    f.required("location", self.location);
    f.required("message", self.message);
  }
  bool operator==(const DiagnosticRelatedInformation&) const = default;
};

struct Diagnostic {
  Range range;
  std::optional<DiagnosticSeverity> severity;
  std::optional<std::variant<std::int64_t, std::string>> code;
  std::optional<CodeDescription> codeDescription;
  std::optional<std::string> source;
  std::string message;
  std::optional<std::vector<std::int32_t>> tags;  ///< 1 unnecessary, 2 deprecated
  std::optional<std::vector<DiagnosticRelatedInformation>> relatedInformation;
  json::value data;  ///< comes back in CodeActionContext, from most clients
  static void fields(auto& f, auto& self) {
    f.required("range", self.range);
    f.optional("severity", self.severity);
    f.optional("code", self.code);
    f.optional("codeDescription", self.codeDescription);
    f.optional("source", self.source);
    f.required("message", self.message);
    f.optional("tags", self.tags);
    f.optional("relatedInformation", self.relatedInformation);
    f.optional("data", self.data);
  }
  bool operator==(const Diagnostic&) const = default;
};

/// Replaces all of this server's diagnostics of the document; an empty list clears them.
struct PublishDiagnosticsParams {
  Uri uri;
  std::optional<std::int32_t> version;
  std::vector<Diagnostic> diagnostics;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.optional("version", self.version);
    f.required("diagnostics", self.diagnostics);
  }
  bool operator==(const PublishDiagnosticsParams&) const = default;
};

/// What a client holds when it asks for code actions. Its diagnostics may be other servers', in shapes that are
/// theirs: they are kept as JSON, so that one of them cannot make the request fail.
struct CodeActionContext {
  std::vector<json::value> diagnostics;
  std::optional<std::vector<std::string>> only;
  std::optional<std::int32_t> triggerKind;  ///< 1 invoked, 2 automatic
  static void fields(auto& f, auto& self) {
    f.required("diagnostics", self.diagnostics);
    f.optional("only", self.only);
    f.optional("triggerKind", self.triggerKind);
  }
  bool operator==(const CodeActionContext&) const = default;
};

struct CodeActionParams {
  TextDocumentIdentifier textDocument;
  Range range;
  CodeActionContext context;
  static void fields(auto& f, auto& self) {
    f.required("textDocument", self.textDocument);
    f.required("range", self.range);
    f.required("context", self.context);
  }
  bool operator==(const CodeActionParams&) const = default;
};

/// There is no isPreferred, disabled or resolve here on purpose: clients apply the first unasked and ignore the others.
struct CodeAction {
  std::string title;
  std::optional<std::string> kind;
  std::optional<std::vector<Diagnostic>> diagnostics;
  std::optional<WorkspaceEdit> edit;
  std::optional<Command> command;
  json::value data;
  static void fields(auto& f, auto& self) {
    f.required("title", self.title);
    f.optional("kind", self.kind);
    f.optional("diagnostics", self.diagnostics);
    f.optional("edit", self.edit);
    f.optional("command", self.command);
    f.optional("data", self.data);
  }
  bool operator==(const CodeAction&) const = default;
};

struct CodeLensParams {
  TextDocumentIdentifier textDocument;
  static void fields(auto& f, auto& self) { f.required("textDocument", self.textDocument); }
  bool operator==(const CodeLensParams&) const = default;
};

struct CodeLens {
  Range range;
  std::optional<Command> command;
  json::value data;
  static void fields(auto& f, auto& self) {
    f.required("range", self.range);
    f.optional("command", self.command);
    f.optional("data", self.data);
  }
  bool operator==(const CodeLens&) const = default;
};

using HoverParams = TextDocumentPositionParams;
using CompletionParams = TextDocumentPositionParams;

struct CompletionItem {
  std::string label;
  std::optional<std::int32_t> kind;  ///< 10 property, 12 value
  std::optional<std::string> detail;
  std::optional<std::string> documentation;
  std::optional<std::string> insertText;
  static void fields(auto& f, auto& self) {
    f.required("label", self.label);
    f.optional("kind", self.kind);
    f.optional("detail", self.detail);
    f.optional("documentation", self.documentation);
    f.optional("insertText", self.insertText);
  }
  bool operator==(const CompletionItem&) const = default;
};

struct Hover {
  MarkupContent contents;
  std::optional<Range> range;
  static void fields(auto& f, auto& self) {
    f.required("contents", self.contents);
    f.optional("range", self.range);
  }
  bool operator==(const Hover&) const = default;
};

}  // namespace escrow::protocol

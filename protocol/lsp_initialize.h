#pragma once

#include "protocol/lsp_workspace.h"

/// The handshake (LSP 3.17, "Initialize Request"). Members have the wire's spelling.
namespace escrow::protocol {

/// What of a client's capabilities changes what Escrow does; the rest is not read.
struct WorkspaceEditClientCapabilities {
  std::optional<bool> documentChanges;
  std::optional<std::vector<std::string>> resourceOperations;  ///< create, rename, delete
  std::optional<bool> metadataSupport;                         ///< 3.18
  static void fields(auto& f, auto& self) {
    f.optional("documentChanges", self.documentChanges);
    f.optional("resourceOperations", self.resourceOperations);
    f.optional("metadataSupport", self.metadataSupport);
  }
  bool operator==(const WorkspaceEditClientCapabilities&) const = default;
};

struct DynamicRegistration {
  std::optional<bool> dynamicRegistration;
  static void fields(auto& f, auto& self) { f.optional("dynamicRegistration", self.dynamicRegistration); }
  bool operator==(const DynamicRegistration&) const = default;
};

struct RefreshSupport {
  std::optional<bool> refreshSupport;
  static void fields(auto& f, auto& self) { f.optional("refreshSupport", self.refreshSupport); }
  bool operator==(const RefreshSupport&) const = default;
};

struct WorkspaceClientCapabilities {
  std::optional<bool> applyEdit, configuration, workspaceFolders;
  std::optional<WorkspaceEditClientCapabilities> workspaceEdit;
  std::optional<DynamicRegistration> didChangeWatchedFiles, didChangeConfiguration;
  std::optional<RefreshSupport> codeLens;
  std::optional<DynamicRegistration> textDocumentContent;  ///< 3.18
  static void fields(auto& f, auto& self) {
    f.optional("applyEdit", self.applyEdit);
    f.optional("configuration", self.configuration);
    f.optional("workspaceFolders", self.workspaceFolders);
    f.optional("workspaceEdit", self.workspaceEdit);
    f.optional("didChangeWatchedFiles", self.didChangeWatchedFiles);
    f.optional("didChangeConfiguration", self.didChangeConfiguration);
    f.optional("codeLens", self.codeLens);
    f.optional("textDocumentContent", self.textDocumentContent);
  }
  bool operator==(const WorkspaceClientCapabilities&) const = default;
};

struct PublishDiagnosticsClientCapabilities {
  std::optional<bool> relatedInformation, versionSupport, codeDescriptionSupport, dataSupport;
  static void fields(auto& f, auto& self) {
    f.optional("relatedInformation", self.relatedInformation);
    f.optional("versionSupport", self.versionSupport);
    f.optional("codeDescriptionSupport", self.codeDescriptionSupport);
    f.optional("dataSupport", self.dataSupport);
  }
  bool operator==(const PublishDiagnosticsClientCapabilities&) const = default;
};

struct CodeActionClientCapabilities {
  json::value codeActionLiteralSupport;  ///< null: only bare Commands may be answered
  std::optional<bool> dataSupport;
  static void fields(auto& f, auto& self) {
    f.optional("codeActionLiteralSupport", self.codeActionLiteralSupport);
    f.optional("dataSupport", self.dataSupport);
  }
  bool operator==(const CodeActionClientCapabilities&) const = default;
};

struct HoverClientCapabilities {
  std::optional<std::vector<std::string>> contentFormat;  ///< in the client's order of preference
  static void fields(auto& f, auto& self) { f.optional("contentFormat", self.contentFormat); }
  bool operator==(const HoverClientCapabilities&) const = default;
};

struct TextDocumentClientCapabilities {
  std::optional<PublishDiagnosticsClientCapabilities> publishDiagnostics;
  std::optional<CodeActionClientCapabilities> codeAction;
  std::optional<HoverClientCapabilities> hover;
  std::optional<DynamicRegistration> codeLens;
  static void fields(auto& f, auto& self) {
    f.optional("publishDiagnostics", self.publishDiagnostics);
    f.optional("codeAction", self.codeAction);
    f.optional("hover", self.hover);
    f.optional("codeLens", self.codeLens);
  }
  bool operator==(const TextDocumentClientCapabilities&) const = default;
};

struct ShowDocumentClientCapabilities {
  std::optional<bool> support;
  static void fields(auto& f, auto& self) { f.optional("support", self.support); }
  bool operator==(const ShowDocumentClientCapabilities&) const = default;
};

struct WindowClientCapabilities {
  std::optional<bool> workDoneProgress;
  json::value showMessage;  ///< not null: the client has window/showMessageRequest
  std::optional<ShowDocumentClientCapabilities> showDocument;
  static void fields(auto& f, auto& self) {
    f.optional("workDoneProgress", self.workDoneProgress);
    f.optional("showMessage", self.showMessage);
    f.optional("showDocument", self.showDocument);
  }
  bool operator==(const WindowClientCapabilities&) const = default;
};

struct GeneralClientCapabilities {
  std::optional<std::vector<std::string>> positionEncodings;  ///< in the client's order of preference
  static void fields(auto& f, auto& self) { f.optional("positionEncodings", self.positionEncodings); }
  bool operator==(const GeneralClientCapabilities&) const = default;
};

struct ClientCapabilities {
  std::optional<WorkspaceClientCapabilities> workspace;
  std::optional<TextDocumentClientCapabilities> textDocument;
  std::optional<WindowClientCapabilities> window;
  std::optional<GeneralClientCapabilities> general;
  json::value experimental;  ///< its `escrow` member: see escrow_capabilities.h
  static void fields(auto& f, auto& self) {
    f.optional("workspace", self.workspace);
    f.optional("textDocument", self.textDocument);
    f.optional("window", self.window);
    f.optional("general", self.general);
    f.optional("experimental", self.experimental);
  }
  bool operator==(const ClientCapabilities&) const = default;
};

struct NameAndVersion {
  std::string name;
  std::optional<std::string> version;
  static void fields(auto& f, auto& self) {
    f.required("name", self.name);
    f.optional("version", self.version);
  }
  bool operator==(const NameAndVersion&) const = default;
};

struct InitializeParams {
  std::optional<std::int64_t> processId;  ///< null: unknown, or not of this host
  std::optional<NameAndVersion> clientInfo;
  std::optional<std::string> rootPath;
  std::optional<Uri> rootUri;
  json::value initializationOptions;
  ClientCapabilities capabilities;
  std::optional<std::string> trace;
  std::optional<std::vector<WorkspaceFolder>> workspaceFolders;
  std::optional<ProgressToken> workDoneToken;
  static void fields(auto& f, auto& self) {
    f.or_null("processId", self.processId);
    f.optional("clientInfo", self.clientInfo);
    f.optional("rootPath", self.rootPath);
    f.or_null("rootUri", self.rootUri);
    f.optional("initializationOptions", self.initializationOptions);
    f.required("capabilities", self.capabilities);
    f.optional("trace", self.trace);
    f.optional("workspaceFolders", self.workspaceFolders);
    f.optional("workDoneToken", self.workDoneToken);
  }
  bool operator==(const InitializeParams&) const = default;
};

enum class TextDocumentSyncKind { none = 0, full = 1, incremental = 2 };
constexpr std::pair<int, int> wire_range(TextDocumentSyncKind) {
  return {0, 2};
}

struct SaveOptions {
  std::optional<bool> includeText;
  static void fields(auto& f, auto& self) { f.optional("includeText", self.includeText); }
  bool operator==(const SaveOptions&) const = default;
};

struct TextDocumentSyncOptions {
  bool openClose = true;
  TextDocumentSyncKind change = TextDocumentSyncKind::incremental;
  std::optional<SaveOptions> save;
  static void fields(auto& f, auto& self) {
    f.required("openClose", self.openClose);
    f.required("change", self.change);
    f.optional("save", self.save);
  }
  bool operator==(const TextDocumentSyncOptions&) const = default;
};

struct CodeActionOptions {
  std::vector<std::string> codeActionKinds;
  bool resolveProvider = false;
  static void fields(auto& f, auto& self) {
    f.required("codeActionKinds", self.codeActionKinds);
    f.required("resolveProvider", self.resolveProvider);
  }
  bool operator==(const CodeActionOptions&) const = default;
};

struct CodeLensOptions {
  bool resolveProvider = false;
  static void fields(auto& f, auto& self) { f.required("resolveProvider", self.resolveProvider); }
  bool operator==(const CodeLensOptions&) const = default;
};

/// Every id there will ever be: clients refuse or hide a command that is not listed here.
struct ExecuteCommandOptions {
  std::vector<std::string> commands;
  std::optional<bool> workDoneProgress;
  static void fields(auto& f, auto& self) {
    f.required("commands", self.commands);
    f.optional("workDoneProgress", self.workDoneProgress);
  }
  bool operator==(const ExecuteCommandOptions&) const = default;
};

struct WorkspaceFoldersServerCapabilities {
  bool supported = true;
  bool changeNotifications = true;
  static void fields(auto& f, auto& self) {
    f.required("supported", self.supported);
    f.required("changeNotifications", self.changeNotifications);
  }
  bool operator==(const WorkspaceFoldersServerCapabilities&) const = default;
};

/// 3.18; only for a client that has workspace.textDocumentContent.
struct TextDocumentContentOptions {
  std::vector<std::string> schemes;
  static void fields(auto& f, auto& self) { f.required("schemes", self.schemes); }
  bool operator==(const TextDocumentContentOptions&) const = default;
};

struct WorkspaceServerCapabilities {
  std::optional<WorkspaceFoldersServerCapabilities> workspaceFolders;
  std::optional<TextDocumentContentOptions> textDocumentContent;
  static void fields(auto& f, auto& self) {
    f.optional("workspaceFolders", self.workspaceFolders);
    f.optional("textDocumentContent", self.textDocumentContent);
  }
  bool operator==(const WorkspaceServerCapabilities&) const = default;
};

/// Only that there is completion: no trigger characters, nothing to resolve.
struct CompletionOptions {
  static void fields(auto&, auto&) {}
  bool operator==(const CompletionOptions&) const = default;
};

struct ServerCapabilities {
  std::optional<std::string> positionEncoding;
  std::optional<TextDocumentSyncOptions> textDocumentSync;
  std::optional<bool> hoverProvider;
  std::optional<CompletionOptions> completionProvider;
  std::optional<CodeActionOptions> codeActionProvider;
  std::optional<CodeLensOptions> codeLensProvider;
  std::optional<ExecuteCommandOptions> executeCommandProvider;
  std::optional<WorkspaceServerCapabilities> workspace;
  json::value experimental;
  static void fields(auto& f, auto& self) {
    f.optional("positionEncoding", self.positionEncoding);
    f.optional("textDocumentSync", self.textDocumentSync);
    f.optional("hoverProvider", self.hoverProvider);
    f.optional("completionProvider", self.completionProvider);
    f.optional("codeActionProvider", self.codeActionProvider);
    f.optional("codeLensProvider", self.codeLensProvider);
    f.optional("executeCommandProvider", self.executeCommandProvider);
    f.optional("workspace", self.workspace);
    f.optional("experimental", self.experimental);
  }
  bool operator==(const ServerCapabilities&) const = default;
};

struct InitializeResult {
  ServerCapabilities capabilities;
  std::optional<NameAndVersion> serverInfo;
  static void fields(auto& f, auto& self) {
    f.required("capabilities", self.capabilities);
    f.optional("serverInfo", self.serverInfo);
  }
  bool operator==(const InitializeResult&) const = default;
};

/// `$/cancelRequest`.
struct CancelParams {
  Id id;
  static void fields(auto& f, auto& self) { f.required("id", self.id); }
  bool operator==(const CancelParams&) const = default;
};

/// `$/setTrace`: off, messages or verbose.
struct SetTraceParams {
  std::string value;
  static void fields(auto& f, auto& self) { f.required("value", self.value); }
  bool operator==(const SetTraceParams&) const = default;
};

}  // namespace escrow::protocol

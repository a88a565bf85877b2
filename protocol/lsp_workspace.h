#pragma once

#include "protocol/lsp_basic.h"

/// Folders, commands, configuration, watching, registration (LSP 3.17, "Workspace Features"). Members have the wire's
/// spelling.
namespace escrow::protocol {

struct WorkspaceFolder {
  Uri uri;
  std::string name;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("name", self.name);
  }
  bool operator==(const WorkspaceFolder&) const = default;
};

struct WorkspaceFoldersChangeEvent {
  std::vector<WorkspaceFolder> added, removed;
  static void fields(auto& f, auto& self) {
    f.required("added", self.added);
    f.required("removed", self.removed);
  }
  bool operator==(const WorkspaceFoldersChangeEvent&) const = default;
};

struct DidChangeWorkspaceFoldersParams {
  WorkspaceFoldersChangeEvent event;
  static void fields(auto& f, auto& self) { f.required("event", self.event); }
  bool operator==(const DidChangeWorkspaceFoldersParams&) const = default;
};

struct ExecuteCommandParams {
  std::string command;
  std::optional<std::vector<json::value>> arguments;
  std::optional<ProgressToken> workDoneToken;
  static void fields(auto& f, auto& self) {
    f.required("command", self.command);
    f.optional("arguments", self.arguments);
    f.optional("workDoneToken", self.workDoneToken);
  }
  bool operator==(const ExecuteCommandParams&) const = default;
};

struct ConfigurationItem {
  std::optional<Uri> scopeUri;
  std::optional<std::string> section;
  static void fields(auto& f, auto& self) {
    f.optional("scopeUri", self.scopeUri);
    f.optional("section", self.section);
  }
  bool operator==(const ConfigurationItem&) const = default;
};

/// The result is `std::vector<json::value>`, one for each item, null where the client has nothing.
struct ConfigurationParams {
  std::vector<ConfigurationItem> items;
  static void fields(auto& f, auto& self) { f.required("items", self.items); }
  bool operator==(const ConfigurationParams&) const = default;
};

/// `settings` may be null: a client that wants to be asked (workspace/configuration) says so like this.
struct DidChangeConfigurationParams {
  json::value settings;
  static void fields(auto& f, auto& self) { f.optional("settings", self.settings); }
  bool operator==(const DidChangeConfigurationParams&) const = default;
};

enum class FileChangeType { created = 1, changed = 2, removed = 3 };
constexpr std::pair<int, int> wire_range(FileChangeType) {
  return {1, 3};
}

struct FileEvent {
  Uri uri;
  FileChangeType type = FileChangeType::changed;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("type", self.type);
  }
  bool operator==(const FileEvent&) const = default;
};

struct DidChangeWatchedFilesParams {
  std::vector<FileEvent> changes;
  static void fields(auto& f, auto& self) { f.required("changes", self.changes); }
  bool operator==(const DidChangeWatchedFilesParams&) const = default;
};

struct Registration {
  std::string id, method;
  json::value registerOptions;
  static void fields(auto& f, auto& self) {
    f.required("id", self.id);
    f.required("method", self.method);
    f.optional("registerOptions", self.registerOptions);
  }
  bool operator==(const Registration&) const = default;
};

struct RegistrationParams {
  std::vector<Registration> registrations;
  static void fields(auto& f, auto& self) { f.required("registrations", self.registrations); }
  bool operator==(const RegistrationParams&) const = default;
};

}  // namespace escrow::protocol

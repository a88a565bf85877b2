#pragma once

#include "protocol/lsp_basic.h"

/// Messages, progress, showing documents (LSP 3.17, "Window Features"). Members have the wire's spelling.
namespace escrow::protocol {

enum class MessageType { error = 1, warning = 2, info = 3, log = 4, debug = 5 };
constexpr std::pair<int, int> wire_range(MessageType) {
  return {1, 5};
}

/// window/showMessage and window/logMessage. Type 5 is 3.18: not for a client that does not know it.
struct ShowMessageParams {
  MessageType type = MessageType::info;
  std::string message;
  static void fields(auto& f, auto& self) {
    f.required("type", self.type);
    f.required("message", self.message);
  }
  bool operator==(const ShowMessageParams&) const = default;
};
using LogMessageParams = ShowMessageParams;

/// Told apart by its title: some clients lose every other member.
struct MessageActionItem {
  std::string title;
  static void fields(auto& f, auto& self) { f.required("title", self.title); }
  bool operator==(const MessageActionItem&) const = default;
};

/// window/showMessageRequest; the result is `std::optional<MessageActionItem>`, null when the person did not choose.
struct ShowMessageRequestParams {
  MessageType type = MessageType::info;
  std::string message;
  std::optional<std::vector<MessageActionItem>> actions;
  static void fields(auto& f, auto& self) {
    f.required("type", self.type);
    f.required("message", self.message);
    f.optional("actions", self.actions);
  }
  bool operator==(const ShowMessageRequestParams&) const = default;
};

struct ShowDocumentParams {
  Uri uri;
  std::optional<bool> external, takeFocus;
  std::optional<Range> selection;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.optional("external", self.external);
    f.optional("takeFocus", self.takeFocus);
    f.optional("selection", self.selection);
  }
  bool operator==(const ShowDocumentParams&) const = default;
};

struct ShowDocumentResult {
  bool success = false;
  static void fields(auto& f, auto& self) { f.required("success", self.success); }
  bool operator==(const ShowDocumentResult&) const = default;
};

/// window/workDoneProgress/create and …/cancel.
struct WorkDoneProgressParams {
  ProgressToken token;
  static void fields(auto& f, auto& self) { f.required("token", self.token); }
  bool operator==(const WorkDoneProgressParams&) const = default;
};

struct WorkDoneProgressBegin {
  std::string title;
  std::optional<bool> cancellable;
  std::optional<std::string> message;
  std::optional<std::uint32_t> percentage;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "begin");
    f.required("title", self.title);
    f.optional("cancellable", self.cancellable);
    f.optional("message", self.message);
    f.optional("percentage", self.percentage);
  }
  bool operator==(const WorkDoneProgressBegin&) const = default;
};

struct WorkDoneProgressReport {
  std::optional<bool> cancellable;
  std::optional<std::string> message;
  std::optional<std::uint32_t> percentage;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "report");
    f.optional("cancellable", self.cancellable);
    f.optional("message", self.message);
    f.optional("percentage", self.percentage);
  }
  bool operator==(const WorkDoneProgressReport&) const = default;
};

struct WorkDoneProgressEnd {
  std::optional<std::string> message;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "end");
    f.optional("message", self.message);
  }
  bool operator==(const WorkDoneProgressEnd&) const = default;
};

using WorkDoneProgress = std::variant<WorkDoneProgressBegin, WorkDoneProgressReport, WorkDoneProgressEnd>;
bool from_json(const json::value& value, WorkDoneProgress& out, const Path& path);
json::value to_json(const WorkDoneProgress& progress);

/// `$/progress`.
struct ProgressParams {
  ProgressToken token;
  WorkDoneProgress value;
  static void fields(auto& f, auto& self) {
    f.required("token", self.token);
    f.required("value", self.value);
  }
  bool operator==(const ProgressParams&) const = default;
};

}  // namespace escrow::protocol

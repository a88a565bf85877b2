#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/json_writer.h"
#include "protocol/message.h"

/// LSP's basic structures (LSP 3.17, "Basic JSON Structures"), as far as Escrow uses them.
///
/// Members have the wire's spelling. An absent optional is left out on the wire.
namespace escrow::protocol {

/// As the client wrote it; see server/lsp/uri.h for paths. LSP's `DocumentUri` and `URI`.
using Uri = std::string;

/// Parameters nobody looks at.
struct NoParams {
  static void fields(auto&, auto&) {}
  bool operator==(const NoParams&) const = default;
};

/// Zero-based; `character` counts units of the negotiated encoding (server/lsp/positions.h).
struct Position {
  std::uint32_t line = 0;
  std::uint32_t character = 0;
  static void fields(auto& f, auto& self) {
    f.required("line", self.line);
    f.required("character", self.character);
  }
  auto operator<=>(const Position&) const = default;
};

/// Half open: `end` is the first position not in it.
struct Range {
  Position start, end;
  static void fields(auto& f, auto& self) {
    f.required("start", self.start);
    f.required("end", self.end);
  }
  bool operator==(const Range&) const = default;
};

struct Location {
  Uri uri;
  Range range;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("range", self.range);
  }
  bool operator==(const Location&) const = default;
};

struct TextDocumentIdentifier {
  Uri uri;
  static void fields(auto& f, auto& self) { f.required("uri", self.uri); }
  bool operator==(const TextDocumentIdentifier&) const = default;
};

struct VersionedTextDocumentIdentifier {
  Uri uri;
  std::int32_t version = 0;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("version", self.version);
  }
  bool operator==(const VersionedTextDocumentIdentifier&) const = default;
};

/// A null version is the file on disk. Written always: some clients fail when the key is absent.
struct OptionalVersionedTextDocumentIdentifier {
  Uri uri;
  std::optional<std::int32_t> version;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.or_null("version", self.version);
  }
  bool operator==(const OptionalVersionedTextDocumentIdentifier&) const = default;
};

struct TextDocumentPositionParams {
  TextDocumentIdentifier textDocument;
  Position position;
  static void fields(auto& f, auto& self) {
    f.required("textDocument", self.textDocument);
    f.required("position", self.position);
  }
  bool operator==(const TextDocumentPositionParams&) const = default;
};

/// Names a stream of `$/progress`.
using ProgressToken = std::variant<std::int64_t, std::string>;

enum class MarkupKind { plaintext, markdown };
constexpr auto wire_names(MarkupKind) {
  return std::array<WireName<MarkupKind>, 2>{
      {{MarkupKind::plaintext, "plaintext"}, {MarkupKind::markdown, "markdown"}}};
}

struct MarkupContent {
  MarkupKind kind = MarkupKind::plaintext;
  std::string value;
  static void fields(auto& f, auto& self) {
    f.required("kind", self.kind);
    f.required("value", self.value);
  }
  bool operator==(const MarkupContent&) const = default;
};

struct Command {
  std::string title;
  std::string command;
  std::optional<std::vector<json::value>> arguments;
  static void fields(auto& f, auto& self) {
    f.required("title", self.title);
    f.required("command", self.command);
    f.optional("arguments", self.arguments);
  }
  bool operator==(const Command&) const = default;
};

}  // namespace escrow::protocol

#include "protocol/lsp_types.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "tests/catch.h"

using namespace escrow::protocol;

namespace {

template <class T>
std::string complaint_about(std::string_view text) {
  const auto value = read<T>(json::parse(text));
  return value ? "none" : value.error().message;
}

/// Text in, the same text out: the members stand in the order the writer puts them.
template <class T>
void check_same(std::string_view text) {
  const auto value = read<T>(json::parse(text));
  INFO(text);
  REQUIRE(value.has_value());
  CHECK(json::serialize(to_json(*value)) == text);
}

}  // namespace

TEST_CASE("LSP values are written as they were read") {
  check_same<Range>(R"({"start":{"line":1,"character":2},"end":{"line":3,"character":4}})");
  check_same<TextDocumentItem>(R"({"uri":"file:///a","languageId":"c","version":-1,"text":"x"})");
  check_same<TextDocumentContentChangeEvent>(R"({"text":"x"})");
  check_same<Diagnostic>(
      R"({"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"severity":1,"code":"tls-verify-off",)"
      R"("codeDescription":{"href":"https://example.org/"},"source":"escrow","message":"m","tags":[1],)"
      R"("relatedInformation":[{"location":{"uri":"file:///b","range":{"start":{"line":0,"character":0},)"
      R"("end":{"line":0,"character":0}}},"message":"there"}],"data":{"reviewId":"r"}})");
  check_same<PublishDiagnosticsParams>(R"({"uri":"file:///a","version":3,"diagnostics":[]})");
  check_same<CodeAction>(
      R"({"title":"Deny","kind":"quickfix","command":{"title":"Deny","command":"c","arguments":[{}]}})");
  check_same<Hover>(R"({"contents":{"kind":"markdown","value":"**x**"}})");
  check_same<WorkspaceEdit>(
      R"({"documentChanges":[{"textDocument":{"uri":"file:///a","version":null},"edits":[]},)"
      R"({"kind":"create","uri":"file:///b"},{"kind":"delete","uri":"file:///c","options":{"recursive":true}}]})");
  check_same<WorkspaceEdit>(R"({"changes":{"file:///a":[]}})");
  check_same<ProgressParams>(R"({"token":"t","value":{"kind":"begin","title":"x","cancellable":true}})");
  check_same<ProgressParams>(R"({"token":7,"value":{"kind":"end"}})");
  check_same<ShowMessageRequestParams>(R"({"type":2,"message":"m","actions":[{"title":"Allow once"}]})");
  check_same<InitializeResult>(
      R"({"capabilities":{"positionEncoding":"utf-16","textDocumentSync":{"openClose":true,"change":2,"save":{}},)"
      R"("codeActionProvider":{"codeActionKinds":["quickfix"],"resolveProvider":false}},"serverInfo":{"name":"escrow"}})");
}

TEST_CASE("a version is written even where the client left it out") {
  const auto read_back = read<OptionalVersionedTextDocumentIdentifier>(json::parse(R"({"uri":"file:///a"})"));
  REQUIRE(read_back.has_value());
  CHECK(json::serialize(to_json(*read_back)) == R"({"uri":"file:///a","version":null})");
}

TEST_CASE("the initialize parameters that clients send are read") {
  // In the shapes of several editors: absent and null roots, empty folder lists, Lua's empty tables.
  CHECK(complaint_about<InitializeParams>(R"({"processId":null,"rootUri":null,"capabilities":{}})") == "none");
  CHECK(complaint_about<InitializeParams>(
            R"({"processId":12,"rootPath":null,"capabilities":[],"workspaceFolders":[]})") == "none");
  CHECK(complaint_about<InitializeParams>(R"({"capabilities":{"general":{"positionEncodings":{}},"workspace":[]}})") ==
        "none");
  CHECK(complaint_about<InitializeParams>(R"({"processId":1})") == "params.capabilities: missing");
  CHECK(complaint_about<InitializeParams>(R"({"capabilities":{"general":{"positionEncodings":["utf-8",16]}}})") ==
        "params.capabilities.general.positionEncodings[1]: expected string");
  CHECK(complaint_about<InitializeParams>(R"({"capabilities":{},"workspaceFolders":[{"uri":"file:///a"}]})") ==
        "params.workspaceFolders[0].name: missing");
}

TEST_CASE("enumerations of integers have bounds") {
  CHECK(complaint_about<ShowMessageParams>(R"({"type":6,"message":"m"})") == "params.type: expected 1..5");
  CHECK(complaint_about<ShowMessageParams>(R"({"type":"1","message":"m"})") == "params.type: expected integer");
}

TEST_CASE("another server's diagnostics cannot make a code action request fail") {
  CHECK(
      complaint_about<CodeActionParams>(
          R"({"textDocument":{"uri":"file:///a"},"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},)"
          R"("context":{"diagnostics":[{"severity":99,"odd":true}]}})") == "none");
}

TEST_CASE("a document change is told apart by its kind") {
  CHECK(complaint_about<DocumentChange>(R"({"kind":"copy","uri":"file:///a"})") ==
        R"(params.kind: expected one of "create", "rename", "delete")");
  CHECK(complaint_about<DocumentChange>(R"({"edits":[]})") == "params.textDocument: missing");
  CHECK(complaint_about<WorkspaceEdit>(R"({"documentChanges":[{"kind":"rename","oldUri":"file:///a"}]})") ==
        "params.documentChanges[0].newUri: missing");
}

// protocol/README.md is the specification; its examples are read and written here with the server's own code.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/escrow.h"
#include "tests/catch.h"

using namespace escrow::protocol;

namespace {

struct Example {
  std::string label;
  std::size_t line = 0;
  std::string text;
};

std::string readme() {
  std::ifstream in(ESCROW_SOURCE_DIR "/protocol/README.md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Every fenced block whose info string starts with `json`; the rest of the info string is its label.
std::vector<Example> examples(const std::string& text) {
  std::vector<Example> out;
  std::istringstream lines(text);
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```json")) {
      inside = true;
      out.push_back({line.size() > 8 ? line.substr(8) : "", number, ""});
    } else if (line.starts_with("```")) {
      inside = false;
    } else if (inside) {
      out.back().text += line + "\n";
    }
  }
  return out;
}

/// Reads as T and writes again; empty if nothing was lost or added, else what came back or went wrong.
template <class T>
std::string round_trip(const json::value& value) {
  const auto parsed = read<T>(value, "example");
  if (!parsed) return parsed.error().message;
  const json::value again = to_json(*parsed);
  return again == value ? "" : json::serialize(again);
}

using Check = std::function<std::string(const json::value&)>;

std::map<std::string, Check> checks() {
  std::map<std::string, Check> out;
  const auto call = [&](std::string_view method, Check params, Check result) {
    out[std::string(method) + " params"] = std::move(params);
    out[std::string(method) + " result"] = std::move(result);
  };
  call(method::kAgentRegister, round_trip<RegisterParams>, round_trip<RegisterResult>);
  call(method::kAgentEnd, round_trip<EndParams>, round_trip<std::nullptr_t>);
  call(method::kToolCall, round_trip<ToolCallParams>, round_trip<ToolCallResult>);
  call(method::kProposeDiff, round_trip<ProposeDiffParams>, round_trip<Review>);
  call(method::kReviewList, round_trip<ReviewListParams>, round_trip<ReviewListResult>);
  call(method::kReviewGet, round_trip<ReviewGetParams>, round_trip<Review>);
  call(method::kReviewContent, round_trip<ReviewContentParams>, round_trip<ReviewContentResult>);
  call(method::kReviewApprove, round_trip<ReviewApproveParams>, round_trip<Review>);
  call(method::kReviewReject, round_trip<ReviewRejectParams>, round_trip<Review>);
  call(method::kReviewNonce, round_trip<ReviewNonceParams>, round_trip<NonceResult>);
  call(method::kApply, round_trip<ApplyParams>, round_trip<ApplyResult>);
  call(method::kApplyUndo, round_trip<ApplyUndoParams>, round_trip<ApplyResult>);
  call(method::kExecute, round_trip<ExecuteParams>, round_trip<ExecuteResult>);
  call(method::kExecuteWait, round_trip<ExecuteWaitParams>, round_trip<std::optional<ExecuteExitedParams>>);
  call(method::kExecuteRead, round_trip<ExecuteReadParams>, round_trip<ExecuteReadResult>);
  call(method::kExecuteWrite, round_trip<ExecuteWriteParams>, round_trip<std::nullptr_t>);
  call(method::kExecuteKill, round_trip<ExecuteKillParams>, round_trip<std::nullptr_t>);
  call(method::kGrantsList, round_trip<NoParams>, round_trip<GrantsListResult>);
  call(method::kGrantsAdd, round_trip<GrantsAddParams>, round_trip<Grant>);
  call(method::kGrantsRevoke, round_trip<GrantsRevokeParams>, round_trip<GrantsRevokeResult>);
  call(method::kGrantsNonce, round_trip<GrantsNonceParams>, round_trip<NonceResult>);
  call(method::kPolicyGet, round_trip<NoParams>, round_trip<PolicyGetResult>);
  call(method::kPolicyExplain, round_trip<PolicyExplainParams>, round_trip<PolicyExplainResult>);
  call(method::kPolicyReload, round_trip<NoParams>, round_trip<PolicyReloadResult>);
  call(method::kAuditQuery, round_trip<AuditQueryParams>, round_trip<AuditQueryResult>);
  call(method::kAuditVerify, round_trip<AuditVerifyParams>, round_trip<AuditVerifyResult>);
  call(method::kStatus, round_trip<NoParams>, round_trip<Status>);
  out["escrow/review/changed params"] = round_trip<ReviewChangedParams>;
  out["escrow/grants/changed params"] = round_trip<NoParams>;
  out["escrow/execute/output params"] = round_trip<ExecuteOutputParams>;
  out["escrow/execute/exited params"] = round_trip<ExecuteExitedParams>;
  out["client capabilities"] = round_trip<EscrowClientCapabilities>;
  out["server capabilities"] = round_trip<EscrowServerCapabilities>;
  out["Subject"] = round_trip<Subject>;
  out["Change"] = round_trip<Change>;
  out["Review"] = round_trip<Review>;
  out["Grant"] = round_trip<Grant>;
  out["Matter argument"] = round_trip<MatterArgument>;
  out["Remedy argument"] = round_trip<RemedyArgument>;
  out["Undo argument"] = round_trip<UndoArgument>;
  out["Finding argument"] = round_trip<FindingArgument>;
  out["Exec argument"] = round_trip<ExecArgument>;
  out["Lock argument"] = round_trip<LockArgument>;
  out["ResponseError"] = [](const json::value& value) {
    const auto& error = value.as_object();
    const auto code = error.at("code").to_number<int>();
    const bool named = std::string_view(error.at("data").at("kind").as_string()) == kind_of(code);
    return named ? std::string() : "data.kind is not that of the code";
  };
  return out;
}

}  // namespace

TEST_CASE("every example of the specification is read and written without loss") {
  const auto check = checks();
  const auto all = examples(readme());
  CHECK(all.size() > 60);
  for (const Example& example : all) {
    INFO("protocol/README.md:" << example.line << ": " << example.label);
    const auto found = check.find(example.label);
    REQUIRE(found != check.end());
    json::error_code error;
    const json::value value = json::parse(example.text, error);
    REQUIRE(error.message() == json::error_code().message());
    CHECK(found->second(value).empty());
  }
}

TEST_CASE("the specification has an example of every method, notification and kind of argument") {
  std::set<std::string> shown;
  for (const Example& example : examples(readme())) shown.insert(example.label);
  for (const auto name : kMethods) {
    INFO(name);
    CHECK(shown.contains(std::string(name) + " params"));
  }
  for (const auto name : kNotifications) {
    INFO(name);
    // The status notification has the parameters of the status result.
    if (name != notification::kStatusChanged) CHECK(shown.contains(std::string(name) + " params"));
  }
  for (const auto& [label, check] : checks()) {
    // Results that are a Review or a Grant are shown once.
    const std::set<std::string> once = {"escrow/proposeDiff result", "escrow/review/get result",
                                        "escrow/review/approve result", "escrow/review/reject result",
                                        "escrow/grants/add result"};
    INFO(label);
    CHECK(shown.contains(label) != once.contains(label));
  }
}

TEST_CASE("the specification names every method, notification, command and code") {
  const std::string text = readme();
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  for (const auto name : kMethods) {
    INFO(name);
    CHECK(has("### `" + std::string(name) + "`"));
  }
  for (const auto name : kNotifications) {
    INFO(name);
    CHECK(has("### `" + std::string(name) + "` (notification"));
  }
  for (const auto id : kCommands) {
    INFO(id);
    // `a.b.x`, `.y`: further ids of one row leave out what they share.
    const std::string last = "`." + std::string(id.substr(id.rfind('.') + 1)) + "`";
    CHECK((has("`" + std::string(id) + "`") || has(last)));
  }
  for (int code = 4000; code < 4100; ++code) {
    if (kind_of(code).empty()) continue;
    INFO(code);
    CHECK(has("| " + std::to_string(code) + " | `" + std::string(kind_of(code)) + "` |"));
  }
}

TEST_CASE("names are unique") {
  const auto unique = [](auto names) {
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
  };
  CHECK(unique(kMethods));
  CHECK(unique(kNotifications));
  CHECK(unique(kCommands));
}

namespace {
template <class T>
std::string read_error(const std::string& text) {
  const auto value = read<T>(json::parse(text));
  return value ? "none" : value.error().message;
}
}  // namespace

TEST_CASE("errors in our parameters name the place and the choice") {
  const std::string who = R"("agentId":"a","token":"t","callId":"c",)";
  const auto call = [&](const std::string& subject) {
    return read_error<ToolCallParams>("{" + who + R"("tool":"bash","subject":)" + subject + "}");
  };
  CHECK(call(R"({"kind":"shell","command":"ls","cwd":"file:///"})") == "none");
  CHECK(call(R"({"kind":"exec","cwd":"file:///"})") == "params.subject.argv: missing");
  CHECK(call(R"({"kind":"exec","argv":["a",1],"cwd":"file:///"})") == "params.subject.argv[1]: expected string");
  CHECK(call(R"({"kind":"eval"})") ==
        R"(params.subject.kind: expected one of "shell", "exec", "file", "network", "mcp", "other")");
  CHECK(call(R"({"command":"ls"})") == "params.subject.kind: missing");
  CHECK(call("7") == "params.subject: expected object");
  CHECK(call(R"({"kind":"file","op":"chmod","uris":[]})") ==
        R"(params.subject.op: expected one of "read", "write", "create", "delete", "move")");
  CHECK(read_error<ToolCallParams>("{}") == "params.agentId: missing");
  CHECK(read_error<ExecuteParams>("{" + who + R"("command":{"argv":["a"],"shell":"b"},"cwd":"file:///"})") ==
        "params.command: expected either argv or shell");
  CHECK(read_error<ExecuteParams>("{" + who + R"("command":{},"cwd":"file:///"})") ==
        "params.command: expected either argv or shell");
  CHECK(read_error<ExecuteParams>("{" + who + R"("command":{"argv":[]},"cwd":"file:///"})") ==
        "params.command.argv: expected at least the program");
  CHECK(read_error<GrantsRevokeParams>("{}") == "params: expected either grantId or all: true");
  CHECK(read_error<GrantsRevokeParams>(R"({"all":false})") == "params: expected either grantId or all: true");
  CHECK(read_error<GrantsRevokeParams>(R"({"all":true,"grantId":"g"})") ==
        "params: expected either grantId or all: true");
  CHECK(read_error<FilesChange>(R"({"form":"files","files":[{"uri":"file:///a"}]})") ==
        "params.files[0].newText: missing");
}

TEST_CASE("an absent newText is never taken for a deletion") {
  const auto change = read<Change>(json::parse(R"({"form":"files","files":[{"uri":"file:///a","newText":null}]})"));
  REQUIRE(change.has_value());
  CHECK_FALSE(std::get<FilesChange>(*change).files[0].newText.has_value());
  CHECK(read_error<Change>(R"({"form":"files","files":[{"uri":"file:///a"}]})") != "none");
}

TEST_CASE("client capabilities are absent, or of the right shape") {
  CHECK_FALSE(read_client_capabilities(nullptr).value().has_value());
  CHECK_FALSE(read_client_capabilities(json::parse(R"({"other":{}})")).value().has_value());
  CHECK(read_client_capabilities(json::parse(R"({"escrow":{"version":1}})")).value()->version == 1);
  CHECK(read_client_capabilities(json::parse(R"({"escrow":{"version":"1"}})")).error().message ==
        "params.capabilities.experimental.escrow.version: expected integer");
}

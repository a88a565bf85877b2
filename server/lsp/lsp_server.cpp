#include "server/lsp/lsp_server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "engine/redact.h"
#include "protocol/escrow_methods.h"
#include "protocol/framing.h"
#include "server/execution_limits.h"
#include "server/lsp/code_actions.h"
#include "server/lsp/from_protocol.h"
#include "server/lsp/hover.h"
#include "server/lsp/policy_document.h"
#include "server/lsp/to_protocol.h"
#include "server/lsp/uri.h"
#include "server/store/config.h"
#include "server/store/policy_ratchet.h"
#include "server/store/private_directory.h"
#include "server/workspace/local_tree.h"
#include "server/workspace/repository.h"

namespace escrow::server::lsp {
namespace {

/// Folders first, then rootUri, then the deprecated rootPath; none at all is a client with a loose file.
std::vector<std::string> roots_of(const protocol::InitializeParams& params) {
  std::vector<std::string> roots;
  const auto add = [&](const std::optional<std::string>& path) {
    if (!path) return;
    const auto root = workspace_root_around(*path);
    if (root && std::find(roots.begin(), roots.end(), *root) == roots.end()) roots.push_back(*root);
  };
  for (const auto& folder : params.workspaceFolders.value_or(std::vector<protocol::WorkspaceFolder>())) {
    add(to_path(folder.uri));
  }
  if (roots.empty() && params.rootUri) add(to_path(*params.rootUri));
  if (roots.empty()) add(params.rootPath);
  return roots;
}

template <class Names>
std::vector<std::string> texts(const Names& names) {
  return {names.begin(), names.end()};
}

}  // namespace

LspServer::LspServer(boost::asio::io_context& loop, Binder& binder, Options options)
    : options_(std::move(options)), session_{.loop = loop} {
  session_.libexec_dir = options_.libexec_dir;
  session_.rules_dir = options_.rules_dir;
  session_.version = options_.version;
  binder.request("initialize", this, &LspServer::initialize);
  binder.notification<protocol::NoParams>("initialized", [this](const protocol::NoParams&) { start_watching(); });
  binder.request<protocol::NoParams>("shutdown", [this](const protocol::NoParams&, Reply reply) {
    close();
    reply(nullptr);
  });
  binder.notification("textDocument/didOpen", this, &LspServer::did_open);
  binder.notification("textDocument/didChange", this, &LspServer::did_change);
  binder.notification("textDocument/didSave", this, &LspServer::did_save);
  binder.notification("textDocument/didClose", this, &LspServer::did_close);
  binder.notification("workspace/didChangeWorkspaceFolders", this, &LspServer::did_change_folders);
  binder.notification("workspace/didChangeWatchedFiles", this, &LspServer::did_change_watched);
  binder.notification<protocol::DidChangeConfigurationParams>(
      "workspace/didChangeConfiguration", [this](const protocol::DidChangeConfigurationParams&) { policy_changed(); });
  binder.notification<protocol::NoParams>("$/setTrace", [](const protocol::NoParams&) {});
  binder.request("textDocument/codeAction", this, &LspServer::code_action);
  binder.request("textDocument/codeLens", this, &LspServer::code_lens);
  binder.request("textDocument/hover", this, &LspServer::hover);
  binder.request<protocol::CompletionParams>(
      "textDocument/completion",
      [this](const protocol::CompletionParams& params, Reply reply) { completion(params, std::move(reply)); });
  binder.request<protocol::ExecuteCommandParams>("workspace/executeCommand",
                                                 [this](const protocol::ExecuteCommandParams& params, Reply reply) {
                                                   commands_.execute(params, std::move(reply));
                                                 });
  agents_.bind(binder);
  person_.bind(binder);
}

LspServer::~LspServer() {
  close();
}

void LspServer::close() {
  watch_.reset();
  view_.close();
  if (session_.broker) session_.broker->close();
  session_.broker.reset();  // its executions are killed as they are dropped
}

void LspServer::initialize(const protocol::InitializeParams& params, Reply reply) {
  const auto escrow = protocol::read_client_capabilities(params.capabilities.experimental);
  if (!escrow) return reply.error(protocol::kInvalidParams, escrow.error().message);
  session_.client = read_client_facts(params, *escrow);
  if (auto made = make_product(roots_of(params)); !made) return reply.error(to_wire(made.error()));
  reply(describe_server());
}

Result<void> LspServer::make_product(const std::vector<std::string>& roots) {
  auto places = find_places(options_.environment, Overrides::honour, roots);
  if (!places) return places.error();
  session_.places = *places;
  if (auto made = make_private_directory(places->state_dir); !made) return made;
  // A broken file must not leave the person without a server: it is the server that shows what is wrong with it.
  auto policy = load_policy(*places, roots);
  if (!policy) {
    policy_fault_ = policy.error().message;
    policy = load_policy_or_strict(*places, roots);
  }
  session_.probe = &sandbox::probe_host(session_.libexec_dir);
  const sandbox::ExecutorOptions executor{.state_dir = places->state_dir,
                                          .libexec_dir = session_.libexec_dir,
                                          .pool = {.least = 2, .most = 6},
                                          .artefacts = ignore_test};
  session_.executor = options_.make_executor ? options_.make_executor(session_.loop, executor)
                                             : sandbox::make_bwrap_executor(session_.loop, executor);
  session_.tree = std::make_unique<LocalTree>(places->state_dir);
  session_.editor = std::make_unique<LspEditor>(session_);
  Broker::Options options;
  options.state_dir = places->state_dir;
  options.grants_file = places->grants_file;
  options.roots = roots;
  options.home = options_.home;
  options.limits = execution_limits(*policy);
  options.policy = std::move(*policy);
  session_.broker = std::make_unique<Broker>(session_.loop, *session_.executor, *session_.tree, *session_.editor,
                                             std::move(options), broker_events());
  return {};
}

BrokerEvents LspServer::broker_events() {
  BrokerEvents events;
  events.on_findings_changed = [this] {
    view_.refresh();
    withdraw_questions();
    tell_status();
  };
  events.on_grants_changed = [this] {
    if (session_.wants("grants")) {
      session_.connection->notify(protocol::notification::kGrantsChanged, protocol::NoParams{});
    }
  };
  events.on_output = [this](const std::string& exec_id, sandbox::Stream stream, std::string_view bytes) {
    agents_.output(exec_id, stream, bytes);
  };
  events.on_exited = [this](const FinishedExecution& finished) {
    agents_.exited(finished);
    warn_of_slow_sandboxes();
  };
  events.on_pending = [this](const Review& review) { ask(review); };
  events.on_review_changed = [this](const Review& review) {
    if (session_.wants("review")) {
      session_.connection->notify(protocol::notification::kReviewChanged, changed_to_wire(review));
    }
  };
  events.on_trouble = [this](const std::string& text) {
    if (std::exchange(told_trouble_, true)) return;
    session_.connection->notify("window/showMessage", protocol::ShowMessageParams{.type = protocol::MessageType::error,
                                                                                  .message = "Escrow: " + text});
  };
  return events;
}

protocol::InitializeResult LspServer::describe_server() const {
  protocol::InitializeResult result;
  auto& server = result.capabilities;
  server.positionEncoding = std::string(name_of(session_.client.encoding));
  server.textDocumentSync = protocol::TextDocumentSyncOptions{};
  server.textDocumentSync->save = protocol::SaveOptions{};
  server.hoverProvider = true;
  server.completionProvider = protocol::CompletionOptions{};
  server.codeActionProvider = protocol::CodeActionOptions{.codeActionKinds = {"quickfix"}};
  server.codeLensProvider = protocol::CodeLensOptions{};
  server.executeCommandProvider =
      protocol::ExecuteCommandOptions{.commands = texts(protocol::kCommands), .workDoneProgress = true};
  server.workspace = protocol::WorkspaceServerCapabilities{};
  server.workspace->workspaceFolders = protocol::WorkspaceFoldersServerCapabilities{};
  if (session_.client.text_document_content) {
    server.workspace->textDocumentContent =
        protocol::TextDocumentContentOptions{.schemes = {std::string(protocol::kReviewScheme)}};
  }
  server.experimental = boost::json::object{{"escrow", describe_escrow()}};
  result.serverInfo = protocol::NameAndVersion{.name = "escrow", .version = options_.version};
  return result;
}

boost::json::value LspServer::describe_escrow() const {
  const sandbox::Probe& probe = *session_.probe;
  protocol::EscrowServerCapabilities escrow;
  escrow.methods = texts(protocol::kMethods);
  escrow.commands = texts(protocol::kCommands);
  escrow.enforcement = probe.available ? protocol::EnforcementLevel::sandbox : protocol::EnforcementLevel::policy_only;
  escrow.sandbox = {.backend = probe.available ? "bubblewrap" : "none",
                    .network = probe.available,
                    .overlay = probe.overlay,
                    .seccomp = probe.seccomp,
                    .landlock = probe.landlock_abi,
                    .limits = {"wall", "cpu", "memory", "pids", "file-size", "output"}};
  escrow.limits = {.maxMessageBytes = static_cast<std::int64_t>(protocol::FrameReader::Limits{}.body_bytes),
                   .maxOutputBytes = static_cast<std::int64_t>(sandbox::Limits{}.output_kept_bytes),
                   .decisionTimeoutMs = Broker::Options{}.decision_timeout_ms};
  return protocol::to_json(escrow);
}

void LspServer::start_watching() {
  if (!policy_fault_.empty()) tell_policy_fault("each action asks a person until it is mended");
  watch_ = PolicyWatch::make(session_.loop, [this] { policy_changed(); });
  watch_policy_files();
  view_.refresh();
}

void LspServer::watch_policy_files() {
  if (!watch_) return;
  auto files = policy_files(session_.places, session_.broker->roots());
  for (const auto& root : session_.broker->roots()) files.push_back(ratchet_file(session_.places, root));
  watch_->watch(std::move(files));
}

void LspServer::tell_policy_fault(const std::string& what_holds) {
  session_.connection->notify(
      "window/showMessage",
      protocol::ShowMessageParams{.type = protocol::MessageType::error,
                                  .message = "Escrow: the policy cannot be read, and " + what_holds + ". " +
                                             engine::one_line(policy_fault_, 600)});
}

void LspServer::policy_changed() {
  if (!session_.broker) return;
  const auto reloaded = session_.reload_policy();
  const std::string fault = reloaded ? std::string() : reloaded.error().message;
  if (fault != policy_fault_) {
    policy_fault_ = fault;
    if (!fault.empty()) tell_policy_fault("what was in force before stays so");
  }
  view_.refresh();
  tell_status();
}

void LspServer::did_open(const protocol::DidOpenTextDocumentParams& params) {
  const Document& document = session_.documents.open(params.textDocument);
  session_.broker->recheck_bases(document.path);
  view_.refresh();
}

void LspServer::did_change(const protocol::DidChangeTextDocumentParams& params) {
  const Document* document = session_.documents.change(params, session_.client.encoding);
  if (document == nullptr) return;
  session_.editor->document_changed(document->path);
  session_.broker->recheck_bases(document->path);
  view_.refresh();
}

void LspServer::did_save(const protocol::DidSaveTextDocumentParams& params) {
  const Document* document = session_.documents.save(params);
  if (document != nullptr) session_.broker->recheck_bases(document->path);
}

void LspServer::did_close(const protocol::DidCloseTextDocumentParams& params) {
  const Document* document = session_.documents.find(params.textDocument.uri);
  const std::string path = document == nullptr ? std::string() : document->path;
  session_.documents.close(params.textDocument.uri);
  session_.broker->recheck_bases(path);
  view_.refresh();
}

void LspServer::did_change_folders(const protocol::DidChangeWorkspaceFoldersParams& params) {
  auto roots = session_.broker->roots();
  for (const auto& folder : params.event.removed) {
    const auto path = to_path(folder.uri);
    const auto root = path ? workspace_root_around(*path) : Result<std::string>(std::string());
    if (root) std::erase(roots, *root);
  }
  for (const auto& folder : params.event.added) {
    const auto path = to_path(folder.uri);
    const auto root = path ? workspace_root_around(*path) : Result<std::string>(std::string());
    if (root && !root->empty() && std::find(roots.begin(), roots.end(), *root) == roots.end()) roots.push_back(*root);
  }
  // A new folder's policy may tighten; one that cannot be read keeps the folder out.
  auto policy = load_policy(session_.places, roots);
  if (!policy) {
    session_.connection->notify(
        "window/showMessage",
        protocol::ShowMessageParams{.type = protocol::MessageType::error,
                                    .message = "Escrow: " + engine::one_line(policy.error().message, 600)});
    return;
  }
  session_.broker->set_roots(std::move(roots));
  session_.broker->set_policy(std::move(*policy));
  watch_policy_files();
  view_.refresh();
}

void LspServer::did_change_watched(const protocol::DidChangeWatchedFilesParams& params) {
  const auto files = policy_files(session_.places, session_.broker->roots());
  bool policy = false;
  for (const auto& change : params.changes) {
    const auto path = to_path(change.uri);
    if (!path) continue;
    session_.broker->recheck_bases(*path);
    policy = policy || std::find(files.begin(), files.end(), *path) != files.end();
  }
  if (policy) policy_changed();
}

void LspServer::code_action(const protocol::CodeActionParams& params, Reply reply) {
  session_.documents.touch(params.textDocument.uri);
  reply(code_actions(session_, view_, params));
}

void LspServer::code_lens(const protocol::CodeLensParams& params, Reply reply) {
  reply(code_lenses(session_, view_, params.textDocument.uri));
}

void LspServer::completion(const protocol::CompletionParams& params, Reply reply) {
  const Document* document = session_.documents.find(params.textDocument.uri);
  if (document == nullptr || !policy_layer_of(*document, session_.places)) return reply(nullptr);
  reply(policy_completion(*document, params.position, session_.client.encoding));
}

void LspServer::hover(const protocol::HoverParams& params, Reply reply) {
  auto hover = hover_at(session_, view_, params.textDocument.uri, params.position);
  const Document* document = session_.documents.find(params.textDocument.uri);
  if (document != nullptr && policy_layer_of(*document, session_.places)) {
    auto meaning = policy_hover(*document, params.position, session_.client.encoding);
    if (hover && meaning) meaning->contents.value += "\n" + hover->contents.value;
    if (meaning) hover = std::move(meaning);
  }
  if (!hover) return reply(nullptr);
  reply(*hover);
}

/// A question beside the diagnostics, where the client offers one and somebody holds the line. Null is undecided;
/// whichever surface answers first wins.
void LspServer::ask(const Review& review) {
  if (!session_.client.message_request) return;
  const std::string deny = "Deny", once = "Allow once", session = "Allow for this session";
  protocol::ShowMessageRequestParams params;
  params.type = protocol::MessageType::warning;
  params.message = "Escrow: " + review.agent + " asks: " + engine::one_line(review.title, 300) + " (" +
                   review.decision->clause + ")";
  params.actions = {{{.title = deny}, {.title = once}}};
  if (!engine::suggest_matches(*review.action).empty()) params.actions->push_back({.title = session});
  const auto call = session_.connection->call<std::optional<protocol::MessageActionItem>>(
      "window/showMessageRequest", params,
      [this, id = review.id, revision = review.revision, deny, once, session](auto outcome) {
        if (!outcome || !*outcome || !session_.broker) return;
        const std::string& title = (*outcome)->title;
        if (title == deny) (void)session_.broker->answer_call(id, revision, Answer::deny);
        if (title == once) (void)session_.broker->answer_call(id, revision, Answer::allow_once);
        if (title == session) (void)session_.broker->answer_call(id, revision, Answer::allow_session);
      });
  questions_[review.id] = {.call = call, .revision = review.revision};
}

/// Another surface answered first: the pop-up is of no use any more.
void LspServer::withdraw_questions() {
  for (auto it = questions_.begin(); it != questions_.end();) {
    const auto review = session_.broker->find_review(it->first);
    if (review && review->revision == it->second.revision) {
      ++it;
      continue;
    }
    session_.connection->cancel_call(it->second.call);
    it = questions_.erase(it);
  }
}

/// Once a session: the machine is busy, or something is wrong with it.
void LspServer::warn_of_slow_sandboxes() {
  const sandbox::PoolStatus pool = session_.executor->pool();
  if (pool.slow == 0 || std::exchange(told_slow_, true)) return;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(pool.worst).count();
  session_.connection->notify(
      "window/logMessage",
      protocol::LogMessageParams{.type = protocol::MessageType::warning,
                                 .message = "Escrow: a command waited " + std::to_string(milliseconds) +
                                            " ms for a sandbox that was ready (the goal is " +
                                            std::to_string(sandbox::kHandOffGoal.count()) +
                                            "); escrow/status shows how they do"});
}

void LspServer::tell_status() {
  if (!session_.wants("status")) return;
  const auto status = person_.status();
  if (told_status_ == status) return;
  told_status_ = status;
  session_.connection->notify(protocol::notification::kStatusChanged, status);
}

}  // namespace escrow::server::lsp

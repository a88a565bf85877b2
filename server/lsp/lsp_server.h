#pragma once

#include <functional>
#include <memory>
#include <string>

#include "protocol/lsp_types.h"
#include "sandbox/executor.h"
#include "server/lsp/agent_methods.h"
#include "server/lsp/binder.h"
#include "server/lsp/commands.h"
#include "server/lsp/findings_view.h"
#include "server/lsp/person_methods.h"
#include "server/lsp/policy_watch.h"
#include "server/lsp/session.h"
#include "server/store/places.h"

namespace escrow::server::lsp {

/// The language server: LSP's own methods here, Escrow's in AgentMethods and PersonMethods.
///
/// The product (places, policy, executor, broker) is made at `initialize`, when the workspace is known. Loop thread
/// only.
class LspServer {
 public:
  struct Options {
    std::string version;
    std::string libexec_dir;
    std::string rules_dir;
    Environment environment;
    std::string home;
    /// The seam for tests; empty: the executor of this platform.
    std::function<std::unique_ptr<sandbox::Executor>(boost::asio::io_context&, sandbox::ExecutorOptions)> make_executor;
  };

  /// Fills `binder`; `attach` must follow before the loop runs.
  LspServer(boost::asio::io_context& loop, Binder& binder, Options options);
  ~LspServer();
  void attach(Connection& connection) { session_.connection = &connection; }
  /// Ends what runs and clears what was shown; the connection may already be gone.
  void close();

 private:
  void initialize(const protocol::InitializeParams& params, Reply reply);
  Result<void> make_product(const std::vector<std::string>& roots);
  protocol::InitializeResult describe_server() const;
  boost::json::value describe_escrow() const;
  BrokerEvents broker_events();

  void did_open(const protocol::DidOpenTextDocumentParams& params);
  void did_change(const protocol::DidChangeTextDocumentParams& params);
  void did_save(const protocol::DidSaveTextDocumentParams& params);
  void did_close(const protocol::DidCloseTextDocumentParams& params);
  void did_change_folders(const protocol::DidChangeWorkspaceFoldersParams& params);
  void did_change_watched(const protocol::DidChangeWatchedFilesParams& params);
  void code_action(const protocol::CodeActionParams& params, Reply reply);
  void code_lens(const protocol::CodeLensParams& params, Reply reply);
  void hover(const protocol::HoverParams& params, Reply reply);
  void completion(const protocol::CompletionParams& params, Reply reply);
  void start_watching();
  void watch_policy_files();
  /// Reads the policy again, says once what is wrong with it, and shows what is in force.
  void policy_changed();
  void tell_policy_fault(const std::string& what_holds);
  void ask(const Review& review);
  void withdraw_questions();
  void warn_of_slow_sandboxes();
  void tell_status();

  /// A window/showMessageRequest that is open.
  struct Question {
    Connection::CallId call = 0;
    int revision = 0;
  };

  Options options_;
  Session session_;
  FindingsView view_{session_};
  Commands commands_{session_, view_};
  AgentMethods agents_{session_};
  PersonMethods person_{session_};
  std::vector<std::string> bound_methods_;
  std::map<std::string, Question> questions_;  ///< by review id
  std::optional<protocol::Status> told_status_;
  bool told_slow_ = false;
  bool told_trouble_ = false;
  std::string policy_fault_;  ///< why a policy file cannot be read; empty if all can
  std::unique_ptr<PolicyWatch> watch_;
};

}  // namespace escrow::server::lsp

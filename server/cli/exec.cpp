#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/object.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "engine/redact.h"
#include "server/cli/command.h"
#include "server/cli/consent.h"
#include "server/cli/exec_report.h"
#include "server/cli/input.h"
#include "server/cli/judged.h"
#include "server/cli/limit_option.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/person_session.h"
#include "server/cli/terminal.h"
#include "server/execution_limits.h"
#include "server/hash.h"

// escrow exec -- CMD: judged, run in the cage, its output passed through, its changes held as a review. Our own words
// go to stderr; with --json one object goes to stdout. The exit code is the command's own.

namespace escrow::server::cli {
namespace {

namespace asio = boost::asio;

struct ExecOptions {
  OutputOptions output;
  std::string writable = "overlay", profile = "default", session, timeout, workspace, cwd, autonomy;
  std::vector<std::string> network, limits, env;
  bool allow_once = false, yes = false, apply = false, no_input = false, pass_stdin = false;
};

/// One run, from the words after `--` to the exit code.
class ExecRun {
 public:
  explicit ExecRun(const ExecOptions& options) : options_(options) {}
  int run(const std::vector<std::string>& words);

 private:
  Result<ExecuteRequest> request_of(const std::vector<std::string>& words);
  Result<sandbox::Limits> limits() const;
  Result<Consent> consent_for(const engine::Evaluation& judged, const engine::Action& action);
  int start(ExecuteRequest request);
  void watch_signals();
  void watch_size();
  void read_keys();
  void show(sandbox::Stream stream, std::string_view bytes);
  int report(const FinishedExecution& finished);
  int report_not_run(const std::string& message);
  std::optional<Review> held_changes(const FinishedExecution& finished);
  void apply_changes(std::optional<Review>& changes);

  const ExecOptions& options_;
  std::unique_ptr<PersonSession> session_;
  engine::Decision decision_;
  std::string exec_id_;
  std::optional<FinishedExecution> finished_;
  std::unique_ptr<RawTerminal> raw_;
  std::unique_ptr<asio::signal_set> signals_, window_;
  std::unique_ptr<asio::posix::stream_descriptor> keyboard_;
  std::array<char, 4096> keys_{};
  std::optional<std::size_t> left_to_show_;  ///< of --limit output; the terminal is not limited by itself
  bool said_cut_ = false;
};

/// Ours go to stderr: stdout is the command's.
void tell(const std::string& text) {
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
}

bool on_terminal(const ExecOptions& options) {
  return !options.output.as_json() && !options.pass_stdin && terminal_size().has_value();
}

Result<std::pair<std::string, std::string>> split_variable(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return Error{ErrorKind::invalid_params, "--env " + text + ": write NAME=VALUE"};
  }
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

Result<sandbox::Limits> ExecRun::limits() const {
  auto limits = execution_limits(session_->place().policy);
  for (const auto& limit : options_.limits) {
    if (auto set = set_limit(limits, limit); !set) return set.error();
  }
  if (options_.timeout.empty()) return limits;
  if (auto set = set_limit(limits, "wall=" + options_.timeout); !set) {
    return Error{ErrorKind::invalid_params, "--timeout " + options_.timeout + ": a time such as 500ms, 30s or 5m"};
  }
  return limits;
}

Result<ExecuteRequest> ExecRun::request_of(const std::vector<std::string>& words) {
  const auto& place = session_->place();
  std::error_code error;
  const auto cwd = options_.cwd.empty() ? place.cwd : std::filesystem::canonical(options_.cwd, error).string();
  if (error) return Error{ErrorKind::invalid_params, "--cwd " + options_.cwd + ": " + error.message()};
  engine::ExecAction action{words, cwd, {}};
  for (const auto& text : options_.env) {
    auto variable = split_variable(text);
    if (!variable) return variable.error();
    action.env.insert(std::move(*variable));
  }
  ExecuteRequest request;
  request.call_id = "exec-" + random_token();
  request.action = std::move(action);
  request.profile = options_.profile;
  request.session = options_.session;
  for (const auto& host : options_.network) {
    engine::Grant grant;
    grant.effect = engine::GrantEffect::allow;
    grant.scope = engine::Scope::user;
    grant.tool = "network";
    grant.match = host;
    if (auto fine = engine::validate_grant(grant); !fine) {
      return Error{ErrorKind::invalid_params, "--network " + host + ": " + fine.error().message};
    }
    request.network.push_back(host);
  }
  request.writable = options_.writable == "none"     ? sandbox::Writable::none
                     : options_.writable == "direct" ? sandbox::Writable::direct
                                                     : sandbox::Writable::overlay;
  auto wanted = limits();
  if (!wanted) return wanted.error();
  request.limits = *wanted;
  const bool limited = std::any_of(options_.limits.begin(), options_.limits.end(),
                                   [](const std::string& limit) { return limit.starts_with("output="); });
  if (limited) left_to_show_ = static_cast<std::size_t>(wanted->output_shown_bytes);
  if (on_terminal(options_)) request.pty = terminal_size();
  if (options_.pass_stdin) {
    auto bytes = read_input("-");
    if (!bytes) return bytes.error();
    request.stdin_text = std::move(*bytes);
  }
  return request;
}

/// A prompt needs the person: --allow-once says that it will be given, a terminal that it can be asked for.
Result<Consent> ExecRun::consent_for(const engine::Evaluation& judged, const engine::Action& action) {
  const bool direct = options_.writable == "direct";
  if (judged.decision.verdict == engine::Verdict::allow && !direct) return Consent::none;
  if (judged.decision.verdict == engine::Verdict::deny) {
    return Error{ErrorKind::role_forbidden, judged.decision.reason};
  }
  const bool may_ask = options_.allow_once || (on_terminal(options_) && has_terminal());
  if (options_.no_input || !may_ask) {
    auto why = direct ? std::string("direct writes the real workspace") : judged.decision.reason;
    while (why.ends_with('.')) why.pop_back();
    return Error{ErrorKind::role_forbidden, why + "; a person may allow it with --allow-once"};
  }
  if (!options_.output.as_json()) tell(text_judged(judged, action, options_.output.style()) + "\n");
  const auto question =
      "Allow " + engine::describe(action) + " once" + (direct ? ", writing the real files" : "") + "?";
  auto agreed = confirm(question, options_.yes ? AnswerWith::yes_flag : AnswerWith::question);
  if (!agreed) return agreed.error();
  return Consent::person;
}

int ExecRun::report_not_run(const std::string& message) {
  if (options_.output.as_json()) {
    put_json(json_not_run(decision_, message));
  } else {
    fail("not run: " + message + (decision_.clause.empty() ? "" : " (" + decision_.clause + ")"));
  }
  return kNotRun;
}

void ExecRun::show(sandbox::Stream stream, std::string_view bytes) {
  if (options_.output.as_json() || bytes.empty()) return;
  if (left_to_show_ && *left_to_show_ == 0) {
    if (!std::exchange(said_cut_, true)) tell("\n[the output goes on; --limit output cut it here]\n");
    return;
  }
  if (left_to_show_) {
    bytes = bytes.substr(0, *left_to_show_);
    *left_to_show_ -= bytes.size();
  }
  std::FILE* to = stream == sandbox::Stream::out ? stdout : stderr;
  std::fwrite(bytes.data(), 1, bytes.size(), to);
  std::fflush(to);
}

/// Ctrl-C ends the command, and everything that it started.
void ExecRun::watch_signals() {
  signals_ = std::make_unique<asio::signal_set>(session_->loop(), SIGINT, SIGTERM, SIGHUP);
  signals_->async_wait([this](boost::system::error_code error, int) {
    if (!error) (void)session_->broker().kill_execution(exec_id_);
  });
}

/// The command's terminal follows ours.
void ExecRun::watch_size() {
  window_->async_wait([this](boost::system::error_code error, int) {
    if (error) return;
    if (const auto size = terminal_size()) session_->broker().resize_execution(exec_id_, *size);
    watch_size();
  });
}

void ExecRun::read_keys() {
  keyboard_->async_read_some(asio::buffer(keys_), [this](boost::system::error_code error, std::size_t got) {
    if (error) return;
    (void)session_->broker().write_execution(exec_id_, {keys_.data(), got}, false);
    read_keys();
  });
}

int ExecRun::start(ExecuteRequest request) {
  const bool with_terminal = request.pty.has_value();
  const auto started = session_->broker().execute(std::move(request));
  if (!started) return report_not_run(started.error().message);
  exec_id_ = started->exec_id;
  watch_signals();
  if (with_terminal) {
    raw_ = std::make_unique<RawTerminal>();
    keyboard_ = std::make_unique<asio::posix::stream_descriptor>(session_->loop(), ::dup(STDIN_FILENO));
    read_keys();
    window_ = std::make_unique<asio::signal_set>(session_->loop(), SIGWINCH);
    watch_size();
  }
  while (!finished_ && session_->loop().run_one() > 0) {
  }
  window_.reset();
  keyboard_.reset();
  raw_.reset();
  signals_.reset();
  if (!finished_) return report_not_run("the sandbox ended without a result");
  return report(*finished_);
}

std::optional<Review> ExecRun::held_changes(const FinishedExecution& finished) {
  if (finished.review_id.empty()) return std::nullopt;
  auto review = session_->broker().review(finished.review_id);
  if (!review) return std::nullopt;
  return std::move(*review);
}

/// --apply: what the lane approved goes through the gate at once; what it did not stays held.
void ExecRun::apply_changes(std::optional<Review>& changes) {
  if (!changes || changes->state != ReviewState::approved) return;
  std::optional<Result<ApplyOutcome>> outcome;
  session_->broker().apply(changes->id, changes->revision, false,
                           [&](Result<ApplyOutcome> result) { outcome = std::move(result); });
  while (!outcome && session_->loop().run_one() > 0) {
  }
  if (outcome && !*outcome) fail("not applied: " + outcome->error().message);
  if (auto after = session_->broker().review(changes->id)) changes = std::move(*after);
}

int ExecRun::report(const FinishedExecution& finished) {
  if (finished.cage_error) return report_not_run(finished.cage_error->message);
  auto changes = held_changes(finished);
  if (options_.apply) apply_changes(changes);
  if (options_.output.as_json()) {
    put_json(json_finished(decision_, finished, changes));
  } else {
    const auto text = text_finished(finished, changes, options_.output.style());
    if (!text.empty()) tell("\n" + text);
  }
  return exit_code_of(finished);
}

int ExecRun::run(const std::vector<std::string>& words) {
  PersonSession::Options session;
  session.workspace = options_.workspace;
  session.autonomy = engine::parse_enum<engine::Autonomy>(options_.autonomy);
  session.events.on_output = [this](const std::string&, sandbox::Stream stream, std::string_view bytes) {
    show(stream, bytes);
  };
  session.events.on_exited = [this](const FinishedExecution& finished) { finished_ = finished; };
  session.events.on_trouble = [](const std::string& trouble) { fail(trouble); };
  auto opened = PersonSession::open(std::move(session));
  if (!opened) return report_not_run(opened.error().message);
  session_ = std::move(*opened);
  auto request = request_of(words);
  if (!request) {
    refuse_usage("exec: " + request.error().message);
    return kNotRun;
  }
  const auto judged =
      session_->broker().explain(request->action, engine::Venue::cage, session_->place().policy.autonomy);
  decision_ = judged.decision;
  const auto consent = consent_for(judged, request->action);
  if (!consent) {
    session_->broker().record_refusal(request->action, decision_, consent.error().message);
    return report_not_run(consent.error().message);
  }
  request->consent = *consent;
  return start(std::move(*request));
}

int run_exec(const ExecOptions& options, const TrailingWords& trailing) {
  if (trailing.words.empty()) {
    refuse_usage("exec: put the command after --, as in escrow exec -- npm test");
    return kNotRun;
  }
  return ExecRun(options).run(trailing.words);
}

void add_flags(CLI::App& app, ExecOptions& options) {
  app.add_flag("--allow-once", options.allow_once, "you consent if it would be asked about; never lifts critical");
  app.add_flag("--yes", options.yes, "do not ask; only with ESCROW_GRANTS_PATH or ESCROW_STATE_DIR set");
  app.add_flag("--apply", options.apply, "write the changes to the files at once, if their lane permits");
  app.add_flag("--no-input", options.no_input, "ask nothing: what would be asked about is denied");
  app.add_flag("--stdin", options.pass_stdin, "read stdin to its end and pass it on (else closed, or the terminal)");
}

}  // namespace

void add_exec(CommandTree& tree) {
  auto options = std::make_shared<ExecOptions>();
  auto* app =
      tree.root.add_subcommand("exec", "Run the command after -- in the sandbox; what it changed becomes a review");
  add_choice(*app, "--writable", options->writable, {"overlay", "none", "direct"},
             "how the workspace may be written: copy-on-write, not, for real (overlay)");
  add_texts(*app, "--network", options->network, "HOST[:PORT]", "a host it may reach; again for more (none)");
  add_text(*app, "--timeout", options->timeout, "DURATION", "500ms, 30s, 5m (10m)");
  add_texts(*app, "--limit", options->limits, "NAME=VALUE", "memory=2G cpu=1m pids=200 file-size=1G output=1M");
  add_text(*app, "--workspace", options->workspace, "DIR", "the root (the git root, or the current directory)");
  add_text(*app, "--cwd", options->cwd, "DIR", "where it runs (the current directory)");
  add_texts(*app, "--env", options->env, "NAME=VALUE", "set in its environment");
  add_choice(*app, "--autonomy", options->autonomy, {"low", "medium", "high"}, "how far it may go unasked");
  add_choice(*app, "--profile", options->profile, {"default", "build", "debug"}, "of the sandbox (default)");
  add_text(*app, "--session", options->session, "ID", "a name: later commands of it see what this one writes");
  add_flags(*app, *options);
  add_output_options(*app, options->output);
  const auto& trailing = tree.trailing;
  tree.commands.push_back({"exec", app, [options, &trailing] { return run_exec(*options, trailing); }, true});
}

}  // namespace escrow::server::cli

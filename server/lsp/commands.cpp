#include "server/lsp/commands.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/json.hpp>

#include "engine/redact.h"
#include "protocol/escrow_methods.h"
#include "protocol/lsp_window.h"
#include "server/clock.h"
#include "server/lsp/progress.h"
#include "server/lsp/session.h"
#include "server/lsp/to_protocol.h"
#include "server/lsp/uri.h"
#include "server/store/atomic_file.h"
#include "server/store/private_directory.h"

namespace escrow::server::lsp {
namespace {

namespace command = protocol::command;

template <class T>
Result<T> read_argument(const boost::json::value& argument) {
  auto read = protocol::read<T>(argument, "params.arguments[0]");
  if (!read) return Error{ErrorKind::invalid_params, read.error().message};
  return *read;
}

Error not_offered(const std::string& id) {
  return {ErrorKind::invalid_params,
          "`" + id + "` is listed for clients that know it, and does nothing in this version"};
}

}  // namespace

void Commands::execute(const protocol::ExecuteCommandParams& params, Reply reply) {
  const auto& arguments = params.arguments;
  const boost::json::value argument = arguments && !arguments->empty() ? arguments->front() : boost::json::object{};
  const auto done = run(params, argument);
  if (!done) return reply.error(to_wire(done.error()));
  // Null is the last message of what the click caused: the answers and diagnostics it led to are queued before. Emacs
  // 28 leaves whatever follows an answer in the same read unparsed until the server speaks again.
  boost::asio::post(session_.loop, [answer = std::make_shared<Reply>(std::move(reply))] { (*answer)(nullptr); });
}

Result<void> Commands::run(const protocol::ExecuteCommandParams& params, const boost::json::value& argument) {
  const std::string& id = params.command;
  if (id == command::kUndo) {
    const auto read = read_argument<protocol::UndoArgument>(argument);
    return read ? undo(*read, params.workDoneToken) : Result<void>(read.error());
  }
  if (id == command::kRemedyGrant) {
    const auto read = read_argument<protocol::RemedyArgument>(argument);
    return read ? take_remedy(*read) : Result<void>(read.error());
  }
  if (id == command::kLock) {
    const auto read = read_argument<protocol::LockArgument>(argument);
    return read ? set_locked(*read) : Result<void>(read.error());
  }
  if (id == command::kExecKill) {
    const auto read = read_argument<protocol::ExecArgument>(argument);
    return read ? session_.broker->kill_execution(read->execId) : Result<void>(read.error());
  }
  if (id == command::kGrantsRevokeAll) {
    const auto count = session_.broker->revoke_all();
    if (!count) return count.error();
    tell(protocol::MessageType::info, "Escrow: " + std::to_string(*count) + " remembered decisions revoked");
    return {};
  }
  if (id == command::kStatus) {
    tell(protocol::MessageType::info,
         "Escrow: " + std::to_string(session_.broker->pending_count()) + " waiting, sandbox " +
             (session_.probe->available ? std::string("in force") : "not in force: " + session_.probe->message) +
             (session_.broker->locked() ? ", locked" : ""));
    return {};
  }
  if (id == command::kHunkRevert || id == command::kRiskAccept) return not_offered(id);
  const auto& known = protocol::kCommands;
  if (std::find(known.begin(), known.end(), id) == known.end()) {
    return Error{ErrorKind::invalid_params, "params.command: unknown command `" + id + "`"};
  }
  const auto read = read_argument<protocol::MatterArgument>(argument);
  return read ? run_matter(id, *read, params.workDoneToken) : Result<void>(read.error());
}

Result<void> Commands::run_matter(const std::string& id, const protocol::MatterArgument& matter,
                                  const std::optional<protocol::ProgressToken>& token) {
  if (id == command::kReviewShow) return show(matter);
  if (id == command::kDeny && matter.reviewId.starts_with("m-"))
    return session_.broker->dismiss_remedy(matter.reviewId);
  if (id == command::kDeny) return answer(matter, Answer::deny);
  const std::string hunk = matter.hunk.value_or("");
  auto spent = spend(matter.nonce.value_or(""), matter.reviewId, matter.revision, id + hunk);
  if (!spent) return spent;
  std::vector<std::string> hunks;
  if (!hunk.empty()) hunks.push_back(hunk);
  if (id == command::kAllowOnce) return answer(matter, Answer::allow_once);
  if (id == command::kAllowSession) return answer(matter, Answer::allow_session);
  if (id == command::kAllowWorkspace) return answer(matter, Answer::allow_workspace);
  if (id == command::kApply) return apply(matter, token);
  const auto review = id == command::kReviewApprove
                          ? session_.broker->approve(matter.reviewId, matter.revision, hunks, "person")
                          : session_.broker->reject(matter.reviewId, matter.revision, hunks, "rejected by the person");
  if (!review) return review.error();
  return {};
}

Result<void> Commands::answer(const protocol::MatterArgument& matter, Answer answer) {
  return session_.broker->answer_call(matter.reviewId, matter.revision, answer);
}

/// The whole change as a read-only patch file in the state directory: every client can open a file.
Result<void> Commands::show(const protocol::MatterArgument& matter) {
  const auto review = session_.broker->review(matter.reviewId);
  if (!review) return review.error();
  std::string file = view_.pending_file();
  if (review->kind == ReviewKind::change) {
    std::string text;
    for (const auto& each : review->files) text += engine::print_file_patch(each.patch);
    const std::string directory = session_.places.state_dir + "/shown";
    if (auto made = make_private_directory(directory); !made) return made.error();
    file = directory + "/" + review->id + "-" + std::to_string(review->revision) + ".patch";
    if (auto written = write_file_atomically(file, text); !written) return written.error();
  }
  if (!session_.client.show_document) {
    tell(protocol::MessageType::info, "Escrow: " + review->title + ": open " + file);
    return {};
  }
  protocol::ShowDocumentParams params;
  params.uri = to_uri(file);
  params.takeFocus = true;
  session_.connection->call<protocol::ShowDocumentResult>("window/showDocument", params, [this, file](auto outcome) {
    if (!outcome || !outcome->success) tell(protocol::MessageType::info, "Escrow: open " + file);
  });
  return {};
}

std::function<void(Result<ApplyOutcome>)> Commands::report(const std::string& verb,
                                                           const std::optional<protocol::ProgressToken>& token) {
  progress_begin(session_, token, "Escrow: " + verb);
  return [this, verb, token](Result<ApplyOutcome> outcome) {
    std::string text;
    if (!outcome) {
      text = outcome.error().message;
    } else if (outcome->state != "applied") {
      text = outcome->state + ": " + outcome->reason;
    }
    progress_end(session_, token, text);
    if (!text.empty()) tell(protocol::MessageType::warning, "Escrow: " + verb + ": " + text);
  };
}

Result<void> Commands::apply(const protocol::MatterArgument& matter,
                             const std::optional<protocol::ProgressToken>& token) {
  session_.broker->apply(matter.reviewId, matter.revision, true, report("apply", token));
  return {};
}

Result<void> Commands::undo(const protocol::UndoArgument& argument,
                            const std::optional<protocol::ProgressToken>& token) {
  if (auto spent = spend(argument.nonce, argument.undoId, 0, std::string(command::kUndo)); !spent) return spent;
  session_.broker->undo(argument.undoId, report("undo", token));
  return {};
}

Result<void> Commands::take_remedy(const protocol::RemedyArgument& argument) {
  if (auto spent = spend(argument.nonce, argument.remedyId, 0, std::string(command::kRemedyGrant)); !spent)
    return spent;
  const auto grant = session_.broker->take_remedy(argument.remedyId);
  if (!grant) return grant.error();
  return {};
}

Result<void> Commands::set_locked(const protocol::LockArgument& argument) {
  if (!argument.locked) {
    if (auto spent = spend(argument.nonce.value_or(""), "escrow", 0, std::string(command::kLock)); !spent) return spent;
  }
  session_.broker->set_locked(argument.locked);
  return {};
}

Result<void> Commands::spend(const std::string& nonce, const std::string& subject, int revision,
                             const std::string& verb) {
  return session_.broker->nonces().spend(nonce, subject, revision, verb, now_ms());
}

void Commands::tell(protocol::MessageType type, const std::string& text) {
  session_.connection->notify("window/showMessage",
                              protocol::ShowMessageParams{.type = type, .message = engine::one_line(text, 600)});
}

}  // namespace escrow::server::lsp

#include "server/lsp/lsp_editor.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "protocol/lsp_edit.h"
#include "server/lsp/session.h"

namespace escrow::server::lsp {
namespace {

/// How long an editor may take to bring the text back: some gather changes for a while before they send them.
constexpr std::chrono::seconds kPatience{5};

/// The smallest single edit from `before` to `after` in whole lines: marks and cursors elsewhere stay where they are.
protocol::TextEdit line_edit(const std::string& before, const std::string& after, PositionEncoding encoding) {
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) ++head;
  while (head > 0 && before[head - 1] != '\n') --head;
  std::size_t tail = 0;
  const std::size_t most = std::min(before.size(), after.size()) - head;
  while (tail < most && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  // The common tail must start at the start of a line in both.
  while (tail > 0 && tail < before.size() && before[before.size() - tail - 1] != '\n') --tail;
  while (tail > 0 && (after.size() - tail == 0 || after[after.size() - tail - 1] != '\n')) --tail;
  const LineIndex index(before);
  return {
      .range = {.start = index.to_position(head, encoding), .end = index.to_position(before.size() - tail, encoding)},
      .newText = after.substr(head, after.size() - tail - head)};
}

}  // namespace

struct LspEditor::Edit {
  std::string path, text;
  std::function<void(EditOutcome)> done;
  std::unique_ptr<boost::asio::steady_timer> timer;
  bool claimed = false;  ///< the client answered `applied: true`
};

std::optional<OpenText> LspEditor::open_text(const std::string& path) {
  const Document* document = session_.documents.find_path(path);
  if (document == nullptr) return std::nullopt;
  return OpenText{.text = document->text, .version = document->version};
}

std::map<std::string, std::string> LspEditor::unsaved_texts(const std::string& root) {
  std::map<std::string, std::string> texts;
  for (const Document* document : session_.documents.by_last_use()) {
    const auto [place, relative] = session_.place_of(document->path);
    if (document->path.empty() || place != root) continue;
    const auto image = session_.tree->read(root, relative);
    if (image && image->kind == ImageKind::file && image->content == document->text) continue;
    if (image && image->kind == ImageKind::symlink) continue;
    texts[relative] = document->text;
  }
  return texts;
}

void LspEditor::replace_text(const std::string& path, std::int64_t version, const std::string& text,
                             std::function<void(EditOutcome)> done) {
  const Document* document = session_.documents.find_path(path);
  if (!session_.client.apply_edit || document == nullptr || edits_.contains(path)) return done(EditOutcome::declined);
  if (document->text == text) return done(EditOutcome::applied);
  auto edit = std::make_shared<Edit>(Edit{.path = path, .text = text, .done = std::move(done), .timer = {}});
  edit->timer = std::make_unique<boost::asio::steady_timer>(session_.loop, kPatience);
  edit->timer->async_wait([this, edit](boost::system::error_code stopped) {
    if (!stopped) finish(edit, edit->claimed ? EditOutcome::declined : EditOutcome::unverified);
  });
  edits_[path] = edit;

  protocol::TextDocumentEdit change;
  change.textDocument = {.uri = document->uri, .version = static_cast<std::int32_t>(version)};
  change.edits = {line_edit(document->text, text, session_.client.encoding)};
  protocol::ApplyWorkspaceEditParams params;
  params.label = "Escrow: apply the approved change";
  params.edit.documentChanges = {std::move(change)};
  session_.connection->call<protocol::ApplyWorkspaceEditResult>("workspace/applyEdit", params,
                                                                [this, edit](auto outcome) {
                                                                  const bool declined = !outcome || !outcome->applied;
                                                                  if (declined)
                                                                    return finish(edit, EditOutcome::declined);
                                                                  edit->claimed = true;
                                                                });
}

void LspEditor::document_changed(const std::string& path) {
  const auto found = edits_.find(path);
  const Document* document = session_.documents.find_path(path);
  if (found == edits_.end() || document == nullptr || document->text != found->second->text) return;
  finish(std::shared_ptr<Edit>(found->second), EditOutcome::applied);
}

void LspEditor::finish(const std::shared_ptr<Edit>& edit, EditOutcome outcome) {
  const auto found = edits_.find(edit->path);
  if (found == edits_.end() || found->second != edit) return;  // already settled
  edits_.erase(found);
  edit->timer->cancel();
  edit->done(outcome);
}

}  // namespace escrow::server::lsp

#pragma once

#include <map>
#include <memory>
#include <string>

#include "server/editor.h"

namespace escrow::server::lsp {

struct Session;

/// The person's editor over LSP. Only the text that comes back in a didChange counts: clients answer `applied: true` to
/// edits they dropped, and drop edits without a word (see protocol/README.md, "Applying"). Loop thread only.
class LspEditor final : public Editor {
 public:
  explicit LspEditor(Session& session) : session_(session) {}

  std::optional<OpenText> open_text(const std::string& path) override;
  std::map<std::string, std::string> unsaved_texts(const std::string& root) override;
  void replace_text(const std::string& path, std::int64_t version, const std::string& text,
                    std::function<void(EditOutcome)> done) override;
  /// LSP has no request for it: the plugins save what `escrow/apply` names.
  void save(const std::string&) override {}
  bool has_person() const override { return true; }

  /// To be called after every didChange.
  void document_changed(const std::string& path);

 private:
  struct Edit;
  void finish(const std::shared_ptr<Edit>& edit, EditOutcome outcome);

  Session& session_;
  std::map<std::string, std::shared_ptr<Edit>> edits_;  ///< by path, until confirmed
};

}  // namespace escrow::server::lsp

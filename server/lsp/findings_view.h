#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/lsp_features.h"
#include "server/broker.h"
#include "server/documents.h"

namespace escrow::server::lsp {

struct Session;

/// A finding where it is shown: on a document, at a range of it.
struct ShownFinding {
  Finding finding;
  protocol::Range range;
};

/// A document that is itself a diff, by its language or its name.
bool is_patch(const Document& document);

/// What is shown on every document now, and the publishing of it.
///
/// A finding about no file (a pending command, a refused host) shows on line 0 of the workspace document used last, and
/// on its line of the pending list, a real file in the state directory: a client that refuses virtual documents sees
/// both. Loop thread only.
class FindingsView {
 public:
  explicit FindingsView(Session& session) : session_(session) {}

  /// Computes everything again and publishes what differs from the last time, on the next turn of the loop: several
  /// changes in one turn are one publication.
  void refresh();
  /// Findings that meet a range of the document, the whole-review ones first.
  std::vector<ShownFinding> at(const std::string& uri, const protocol::Range& range) const;
  /// Absolute path of the pending list.
  std::string pending_file() const;
  /// Clears what was published and removes the pending list.
  void close();

 private:
  void publish_now();
  std::map<std::string, std::vector<ShownFinding>> compute();
  void show(std::map<std::string, std::vector<ShownFinding>>& by_uri, const Finding& finding, const std::string& uri,
            const std::string& text);
  void show_patch_documents(std::map<std::string, std::vector<ShownFinding>>& by_uri);
  void show_policy_documents(std::map<std::string, std::vector<ShownFinding>>& by_uri);
  std::string write_pending_list(const std::vector<Finding>& pending);
  protocol::PublishDiagnosticsParams to_publish(const std::string& uri,
                                                const std::vector<ShownFinding>& findings) const;

  Session& session_;
  std::map<std::string, std::vector<ShownFinding>> shown_;
  std::map<std::string, protocol::PublishDiagnosticsParams> published_;
  std::string pending_text_;
  bool scheduled_ = false;
};

}  // namespace escrow::server::lsp

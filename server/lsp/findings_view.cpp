#include "server/lsp/findings_view.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/json.hpp>

#include "engine/redact.h"
#include "server/lsp/policy_document.h"
#include "server/lsp/session.h"
#include "server/lsp/to_protocol.h"
#include "server/lsp/uri.h"
#include "server/review/patch_document.h"
#include "server/store/atomic_file.h"
#include "server/store/private_directory.h"

namespace escrow::server::lsp {
namespace {

constexpr std::size_t kMaxPerFile = 100;

bool meets(const protocol::Range& a, const protocol::Range& b) {
  return a.start.line <= b.end.line && b.start.line <= a.end.line;
}

}  // namespace

bool is_patch(const Document& document) {
  const auto ends = [&](std::string_view tail) {
    return document.path.size() >= tail.size() && document.path.substr(document.path.size() - tail.size()) == tail;
  };
  return document.languageId == "diff" || document.languageId == "patch" || ends(".diff") || ends(".patch");
}

void FindingsView::refresh() {
  if (scheduled_) return;
  scheduled_ = true;
  boost::asio::post(session_.loop, [this] {
    scheduled_ = false;
    publish_now();
  });
}

namespace {

/// Many weak findings must not push a grave one out of sight.
void keep_gravest(std::vector<ShownFinding>& list) {
  if (list.size() <= kMaxPerFile) return;
  std::stable_sort(list.begin(), list.end(), [](const ShownFinding& a, const ShownFinding& b) {
    return a.finding.severity > b.finding.severity;
  });
  list.resize(kMaxPerFile);
  std::stable_sort(list.begin(), list.end(),
                   [](const ShownFinding& a, const ShownFinding& b) { return a.finding.line < b.finding.line; });
}

}  // namespace

void FindingsView::show(std::map<std::string, std::vector<ShownFinding>>& by_uri, const Finding& finding,
                        const std::string& uri, const std::string& text) {
  by_uri[uri].push_back({.finding = finding, .range = lines_range(session_, text, finding.line, finding.end_line)});
}

std::map<std::string, std::vector<ShownFinding>> FindingsView::compute() {
  std::map<std::string, std::vector<ShownFinding>> by_uri;
  std::map<std::string, std::string> texts;
  std::vector<Finding> homeless;
  for (const auto& finding : session_.broker->findings()) {
    if (finding.path.empty()) {
      homeless.push_back(finding);
      continue;
    }
    auto [text, fresh] = texts.try_emplace(finding.path);
    if (fresh) text->second = session_.text_of(finding.path);
    show(by_uri, finding, uri_of(session_, finding.path), text->second);
  }
  const std::string list = write_pending_list(homeless);
  const auto documents = session_.documents.by_last_use();
  const auto latest = std::find_if(documents.begin(), documents.end(), [&](const Document* document) {
    return !session_.place_of(document->path).first.empty();
  });
  for (std::size_t i = 0; i < homeless.size(); ++i) {
    if (latest != documents.end()) show(by_uri, homeless[i], (*latest)->uri, (*latest)->text);
    Finding listed = homeless[i];
    listed.line = listed.end_line = static_cast<std::uint32_t>(i) + 1;
    show(by_uri, listed, uri_of(session_, pending_file()), list);
  }
  show_patch_documents(by_uri);
  show_policy_documents(by_uri);
  for (auto& [uri, shown] : by_uri) keep_gravest(shown);
  return by_uri;
}

void FindingsView::show_patch_documents(std::map<std::string, std::vector<ShownFinding>>& by_uri) {
  for (const Document* document : session_.documents.by_last_use()) {
    if (!is_patch(*document)) continue;
    const auto judged = session_.broker->judge_patch_text(document->text);
    const auto parsed = engine::parse_diff(document->text);
    if (!parsed.issues.empty()) {
      // Never silence: what could not be read could hold anything.
      const auto& issue = parsed.issues.front();
      const auto at = static_cast<std::uint32_t>(issue.line);
      Finding finding;
      finding.line = finding.end_line = at;
      finding.severity = engine::Level::high;
      finding.rule = "parse-error";
      finding.message = "This patch cannot be read whole, and is judged high for it: " + issue.message;
      show(by_uri, finding, document->uri, document->text);
    }
    const auto lines = patch_text_lines(parsed.patch, judged.risk.signals);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto& signal = judged.risk.signals[i];
      Finding finding{.line = lines[i],
                      .end_line = lines[i],
                      .severity = signal.severity,
                      .rule = signal.rule,
                      .message = signal.message};
      show(by_uri, finding, document->uri, document->text);
    }
  }
}

void FindingsView::show_policy_documents(std::map<std::string, std::vector<ShownFinding>>& by_uri) {
  for (const Document* document : session_.documents.by_last_use()) {
    const auto layer = policy_layer_of(*document, session_.places);
    if (!layer) continue;
    for (auto& remark : remarks_on_policy(*document, *layer, session_.client.encoding)) {
      const bool broken = remark.kind == PolicyRemark::Kind::problem;
      Finding finding;
      finding.line = finding.end_line = remark.range.start.line + 1;
      finding.severity = broken ? engine::Level::high : engine::Level::medium;
      finding.rule = broken ? "policy-problem" : "policy-warning";
      finding.message = std::move(remark.message);
      by_uri[document->uri].push_back({.finding = std::move(finding), .range = remark.range});
    }
  }
}

std::string FindingsView::pending_file() const {
  return session_.places.state_dir + "/pending/pending-" + std::to_string(::getpid()) + ".txt";
}

/// One line a matter. Written only when it changes, removed when nothing waits.
std::string FindingsView::write_pending_list(const std::vector<Finding>& pending) {
  std::string text;
  for (const auto& finding : pending) text += engine::one_line(finding.message, 1000) + "\n";
  if (text == pending_text_) return text;
  pending_text_ = text;
  if (text.empty()) {
    ::unlink(pending_file().c_str());
  } else if (make_private_directory(session_.places.state_dir + "/pending")) {
    (void)write_file_atomically(pending_file(), text);
  }
  return text;
}

protocol::PublishDiagnosticsParams FindingsView::to_publish(const std::string& uri,
                                                            const std::vector<ShownFinding>& findings) const {
  protocol::PublishDiagnosticsParams params;
  params.uri = uri;
  if (const Document* document = session_.documents.find(uri)) params.version = document->version;
  for (const auto& shown : findings) {
    protocol::Diagnostic diagnostic = to_wire(session_, shown.finding, {});
    diagnostic.range = shown.range;
    const Finding& finding = shown.finding;
    if (session_.client.related_information && !finding.review_id.empty() && finding.proposed_line != 0) {
      const auto review = session_.broker->find_review(finding.review_id);
      const auto place = session_.place_of(finding.path);
      for (std::size_t i = 0; review && i < review->files.size(); ++i) {
        const ReviewFile& file = review->files[i];
        if (file.old_path != place.second || !file.after.exists()) continue;
        diagnostic.relatedInformation = {
            {.location = {.uri = review_uri(*review, file, "after"),
                          .range =
                              lines_range(session_, file.after.content, finding.proposed_line, finding.proposed_line)},
             .message = "the proposed text"}};
      }
    }
    params.diagnostics.push_back(std::move(diagnostic));
  }
  return params;
}

void FindingsView::publish_now() {
  if (!session_.broker) return;
  shown_ = compute();
  for (auto it = published_.begin(); it != published_.end();) {
    if (shown_.contains(it->first)) {
      ++it;
      continue;
    }
    session_.connection->notify("textDocument/publishDiagnostics",
                                protocol::PublishDiagnosticsParams{.uri = it->first, .version = {}, .diagnostics = {}});
    it = published_.erase(it);
  }
  for (const auto& [uri, findings] : shown_) {
    auto params = to_publish(uri, findings);
    const auto known = published_.find(uri);
    if (known != published_.end() && known->second == params) continue;
    session_.connection->notify("textDocument/publishDiagnostics", params);
    published_[uri] = std::move(params);
  }
}

std::vector<ShownFinding> FindingsView::at(const std::string& uri, const protocol::Range& range) const {
  std::vector<ShownFinding> found;
  const auto list = shown_.find(uri);
  if (list == shown_.end()) return found;
  for (const auto& shown : list->second) {
    if (meets(shown.range, range)) found.push_back(shown);
  }
  std::stable_sort(found.begin(), found.end(), [](const ShownFinding& a, const ShownFinding& b) {
    return (a.finding.signal < 0) > (b.finding.signal < 0);
  });
  return found;
}

void FindingsView::close() {
  pending_text_.clear();
  if (!session_.places.state_dir.empty()) ::unlink(pending_file().c_str());
}

}  // namespace escrow::server::lsp

#pragma once

#include <string>
#include <vector>

#include "protocol/escrow.h"
#include "protocol/lsp_features.h"
#include "server/broker.h"
#include "server/error.h"

/// From the broker's words to the wire: the only place where lines and bytes become the client's positions.
namespace escrow::server::lsp {

struct Session;

/// The client's own spelling for a document it opened, else the canonical file URI.
std::string uri_of(const Session& session, const std::string& path);

/// Whole lines `line`..`end_line` (1-based, inclusive; 0 is the first) of `text`, clamped to it.
protocol::Range lines_range(const Session& session, const std::string& text, std::uint32_t line,
                            std::uint32_t end_line);

/// The text that escrow/review/content and workspace/textDocumentContent give under a review URI.
std::string review_uri(const Review& review, const ReviewFile& file, std::string_view side);
struct ReviewUri {
  std::string review_id, side, path;
  int revision = 0;
};
std::optional<ReviewUri> parse_review_uri(const std::string& uri);

protocol::Risk to_wire(const engine::Risk& risk);
protocol::Risk to_wire(const Session& session, const Review& review);
protocol::Review review_to_wire(const Session& session, const Review& review);
protocol::ReviewChangedParams changed_to_wire(const Review& review);
protocol::Grant to_wire(const engine::Grant& grant);
protocol::Remedy to_wire(const engine::Remedy& remedy);
protocol::ToolCallResult to_wire(const ToolCallAnswer& answer);
protocol::ApplyResult to_wire(const Session& session, const ApplyOutcome& outcome, const std::string& root);
protocol::Enforcement to_wire(const sandbox::Enforcement& enforcement);
protocol::PoolState to_wire(const sandbox::PoolStatus& pool);
protocol::ExecuteExitedParams to_wire(const Session& session, const FinishedExecution& finished);

/// The one diagnostic of a finding; `text` is that of its document.
protocol::Diagnostic to_wire(const Session& session, const Finding& finding, const std::string& text);

/// Escrow's own errors on the wire: 4001…4070 with `data.kind`, -32602, -32800, -32803.
protocol::ResponseError to_wire(const Error& error);

}  // namespace escrow::server::lsp

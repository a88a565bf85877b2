#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "server/cli/style.h"
#include "server/review/review.h"

/// A review as the terminal shows it and as JSON.
namespace escrow::server::cli {

/// One line: id, state, lane, what it is.
std::string review_line(const Review& review, const Style& style);
/// Whole: what it is, every finding, every check, and the change itself, hidden characters made visible.
std::string review_text(const Review& review, const Style& style);
/// `  A new.txt  +1`, one line a file.
std::string review_files_text(const Review& review, const Style& style);

/// {"reviewId","revision","kind","state","lane","level","score","title",…}; with the files, findings and diff if
/// `whole`.
enum class Detail { summary, whole };
boost::json::object json_review(const Review& review, Detail detail);
/// {"reviewId","lane","score","files","diff"}: what an execution answers with.
boost::json::object json_changes(const Review& review);

/// The change as git would print it.
std::string review_diff(const Review& review);

}  // namespace escrow::server::cli

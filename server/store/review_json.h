#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <set>
#include <string>

#include "server/error.h"
#include "server/review/review.h"

namespace escrow::server {

/// A review as it stands on disk. File contents are kept apart, as blobs named by their SHA-256; the patch is computed
/// again from the two images, which gives the same one.
boost::json::object to_json(const Review& review, const std::function<void(const std::string& content)>& keep_blob);

/// `blob` returns the content kept under a hash. A missing or damaged one is an error: a review is whole or not at all.
Result<Review> review_from_json(const boost::json::value& value,
                                const std::function<Result<std::string>(const std::string& hash)>& blob);

/// The review without the contents, patches and hunks of its files, and the hashes of those contents.
Result<Review> outline_from_json(const boost::json::value& value, std::set<std::string>& hashes);

}  // namespace escrow::server

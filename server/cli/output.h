#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

/// stdout and stderr of a subcommand. stdout is checked: an answer that did not arrive is a fault.
namespace escrow::server::cli {

void put(std::string_view text);
/// One line of JSON.
void put_json(const boost::json::object& value);

/// `escrow: message` on stderr; each further line of `message` stands as it is. Returns kFault.
int fail(std::string_view message);
/// The same; returns kUsage.
int refuse_usage(std::string_view message);

/// Flushes stdout; a full disk or a closed descriptor turns `code` into kFault.
int close_output(int code);

}  // namespace escrow::server::cli

#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <string_view>
#include <vector>

#include "engine/diff.h"
#include "engine/signal.h"

/// Engine values in the shapes of the command line's JSON (docs: `man escrow`). Every string is valid UTF-8: bytes of
/// paths and diffs that are not come out as U+FFFD.
namespace escrow::server {

boost::json::string json_text(std::string_view bytes);
boost::json::array json_texts(const std::vector<std::string>& items);

/// {"rule","file","line","end_line","severity","weight","message","cwe"}
boost::json::object json_signal(const engine::Signal& signal);
boost::json::array json_signals(const std::vector<engine::Signal>& signals);

/// [{"rule","points"}]
boost::json::array json_explain(const std::vector<engine::Contribution>& explain);

/// {"path","status","added","removed"}, and "from" for a rename or copy.
boost::json::object json_file(const engine::FilePatch& file);

}  // namespace escrow::server

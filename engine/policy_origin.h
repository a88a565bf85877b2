#pragma once

#include <string>

#include "engine/enum_names.h"

namespace escrow::engine {

enum class LayerKind { builtin, user, workspace, system };
BOOST_DESCRIBE_ENUM(LayerKind, builtin, user, workspace, system)

/// Where a value came from.
struct Origin {
  LayerKind layer = LayerKind::builtin;
  std::string file;
  int line = 0;  ///< 1-based; 0 for built-in
  bool operator==(const Origin&) const = default;
};

}  // namespace escrow::engine

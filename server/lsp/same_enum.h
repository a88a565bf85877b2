#pragma once

namespace escrow::server::lsp {

/// The engine's enumerations and the wire's have the same enumerators in the same order (a test holds them to it).
template <class To, class From>
To same(From value) {
  return static_cast<To>(static_cast<int>(value));
}

}  // namespace escrow::server::lsp

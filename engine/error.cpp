#include "engine/error.h"

#include <stdexcept>

namespace escrow::engine {

void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  throw std::logic_error(std::string("unchecked error at ") + where.file_name() + ": " + error.message);
}

}  // namespace escrow::engine

#include "protocol/error.h"

#include <stdexcept>

namespace escrow::protocol {

void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  throw std::logic_error(std::string("unchecked error at ") + where.file_name() + ": " + error.message);
}

}  // namespace escrow::protocol

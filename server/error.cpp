#include "server/error.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace escrow::server {

void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  throw std::logic_error(std::string("unchecked error at ") + where.file_name() + ": " + error.message);
}

Error io_error(const std::string& what) {
  return {ErrorKind::io, what + ": " + std::strerror(errno)};
}

}  // namespace escrow::server

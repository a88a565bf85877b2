#include "server/cli/output.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/redact.h"
#include "server/cli/command.h"

namespace escrow::server::cli {
namespace {

void complain(std::string_view message) {
  std::fflush(stdout);
  // It quotes files and arguments: what is in them must not reach the terminal as orders.
  const std::string plain = engine::make_visible(message);
  std::fprintf(stderr, "escrow: %s\n", plain.c_str());
}

}  // namespace

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void put_json(const boost::json::object& value) {
  put(boost::json::serialize(value) + "\n");
}

int fail(std::string_view message) {
  complain(message);
  return kFault;
}

int refuse_usage(std::string_view message) {
  complain(message);
  return kUsage;
}

int close_output(int code) {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return code;
  if (errno == 0) errno = EIO;  // it failed before, and what for is forgotten
  std::fprintf(stderr, "escrow: cannot write to stdout: %s\n", std::strerror(errno));
  return code == kOk ? kFault : code;
}

}  // namespace escrow::server::cli

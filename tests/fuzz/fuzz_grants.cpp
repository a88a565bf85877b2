// library: escrow_server
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/store/grant_store.h"

using namespace escrow;

/// The bytes as grants.json. What is read is valid and may be stored; what is not has a note with a place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  char name[] = "/tmp/escrow-fuzz-XXXXXX";
  const int fd = ::mkstemp(name);
  if (fd < 0) return 0;
  const bool written = ::write(fd, data, size) == static_cast<ssize_t>(size);
  ::close(fd);
  if (written) {
    server::GrantStore store(name);
    for (const auto& grant : store.index().all()) {
      if (grant.id.empty() || !engine::validate_grant(grant)) std::abort();
      if (grant.scope != engine::Scope::user && grant.scope != engine::Scope::workspace) std::abort();
    }
    if (store.uncertain() && store.notes().empty()) std::abort();
    for (const auto& note : store.notes())
      if (!note.starts_with(std::string(name) + ":")) std::abort();
  }
  ::unlink(name);
  return 0;
}

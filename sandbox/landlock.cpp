#include "sandbox/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

// The kernel's interface, spelled out: the headers of the build machine may be older than the kernel that runs.
// Documentation/userspace-api/landlock.rst
struct RulesetAttributes {
  std::uint64_t handled_fs = 0;
  std::uint64_t handled_net = 0;  // ABI 4
  std::uint64_t scoped = 0;       // ABI 6
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent;
};

constexpr std::uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2, kReadDirectory = 1u << 3,
                        kRefer = 1u << 13, kTruncate = 1u << 14, kIoctlDevice = 1u << 15;
constexpr std::uint64_t kAllOfAbi1 = (1u << 13) - 1;
constexpr std::uint64_t kScopeAbstractSockets = 1u << 0, kScopeSignals = 1u << 1;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;

std::uint64_t handled_by(int abi) {
  std::uint64_t rights = kAllOfAbi1 | kRefer;
  if (abi >= 3) rights |= kTruncate;
  return rights;  // device ioctls (ABI 5) stay open: terminals need them, and /dev holds nothing but the usual six
}

std::size_t attributes_size(int abi) {
  return abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
}

void add_rule(int ruleset, const std::string& path, std::uint64_t rights) {
  const UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) rights &= kOfFiles;
  const PathBeneath rule{rights, fd.get()};
  syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0);
}

}  // namespace

int landlock_abi() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

int restrict_by_landlock(const std::vector<std::string>& read, const std::vector<std::string>& write) {
  const int abi = landlock_abi();
  if (abi < 2) return 0;
  RulesetAttributes attributes{.handled_fs = handled_by(abi)};
  if (abi >= 6) attributes.scoped = kScopeAbstractSockets | kScopeSignals;
  const UniqueFd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(abi), 0)));
  if (!ruleset) return 0;
  for (const std::string& path : read) add_rule(ruleset.get(), path, kExecute | kReadFile | kReadDirectory);
  for (const std::string& path : write) add_rule(ruleset.get(), path, attributes.handled_fs);
  return syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? abi : 0;
}

}  // namespace escrow::sandbox

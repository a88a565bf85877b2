#pragma once

#include <string>
#include <vector>

#include "server/workspace/user_tree.h"

namespace escrow::server {

/// The real file system. `state_dir` holds the journals of writes under way.
class LocalTree final : public UserTree {
 public:
  explicit LocalTree(std::string state_dir) : journal_directory_(std::move(state_dir) + "/journal") {}

  Result<FileImage> read(const std::string& root, const std::string& path) override;
  Result<WriteRecord> write_all(const std::string& root, const std::vector<FileWrite>& writes) override;
  std::vector<std::string> recover() override;

 private:
  /// Held by whoever writes or recovers, in any process of this user.
  std::string lock_file() const { return journal_directory_ + "/write"; }

  std::string journal_directory_;
};

}  // namespace escrow::server

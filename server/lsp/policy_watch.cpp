#include "server/lsp/policy_watch.h"

#ifdef __linux__
#include <sys/inotify.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

namespace escrow::server::lsp {
namespace {

namespace asio = boost::asio;

/// Editors write a file in several steps.
constexpr std::chrono::milliseconds kSettle{50};

#ifdef __linux__

/// inotify(7) on folders, since a file that is replaced by rename is another one: the nearest folder that exists, and
/// the name in it that leads on to the file.
class InotifyWatch final : public PolicyWatch {
 public:
  InotifyWatch(asio::io_context& loop, std::function<void()> on_change)
      : descriptor_(loop), settle_(loop), on_change_(std::move(on_change)) {
    const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) return;
    descriptor_.assign(fd);
    read();
  }

  void watch(std::vector<std::string> files) override {
    files_ = std::move(files);
    arm();
  }

 private:
  void arm() {
    if (!descriptor_.is_open()) return;
    std::map<int, std::set<std::string>> names;
    for (const auto& file : files_) {
      const std::filesystem::path path(file);
      // The folder may itself appear or go, so it is looked at from above too.
      add(path.parent_path(), path.filename().string(), names);
      add(path.parent_path().parent_path(), path.parent_path().filename().string(), names);
    }
    for (const auto& [id, known] : names_)
      if (!names.contains(id)) ::inotify_rm_watch(descriptor_.native_handle(), id);
    names_ = std::move(names);
  }

  void add(const std::filesystem::path& folder, const std::string& name, std::map<int, std::set<std::string>>& names) {
    constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE;
    const int id = ::inotify_add_watch(descriptor_.native_handle(), folder.c_str(), kEvents | IN_ONLYDIR);
    if (id >= 0) names[id].insert(name);
  }

  void read() {
    descriptor_.async_read_some(asio::buffer(buffer_), [this](boost::system::error_code error, std::size_t got) {
      if (error) return;
      if (concerns_us(got)) settle();
      read();
    });
  }

  bool concerns_us(std::size_t got) const {
    bool any = false;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= got;) {
      inotify_event event{};
      std::memcpy(&event, buffer_.data() + at, sizeof event);
      const auto names = names_.find(event.wd);
      const std::string name = event.len == 0 ? std::string() : std::string(buffer_.data() + at + sizeof event);
      any = any || (event.mask & IN_Q_OVERFLOW) != 0 || (names != names_.end() && names->second.contains(name));
      at += sizeof event + event.len;
    }
    return any;
  }

  void settle() {
    settle_.expires_after(kSettle);
    settle_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      arm();
      on_change_();
    });
  }

  asio::posix::stream_descriptor descriptor_;
  asio::steady_timer settle_;
  std::function<void()> on_change_;
  std::vector<std::string> files_;
  std::map<int, std::set<std::string>> names_;  ///< by watch: what in its folder concerns us
  std::array<char, 16384> buffer_{};
};

#endif

/// Where there is no inotify, the editor's own watching has to do (`workspace/didChangeWatchedFiles`).
class NoWatch final : public PolicyWatch {
 public:
  void watch(std::vector<std::string>) override {}
};

}  // namespace

std::unique_ptr<PolicyWatch> PolicyWatch::make(asio::io_context& loop, std::function<void()> on_change) {
#ifdef __linux__
  return std::make_unique<InotifyWatch>(loop, std::move(on_change));
#else
  (void)loop;
  (void)on_change;
  return std::make_unique<NoWatch>();
#endif
}

}  // namespace escrow::server::lsp

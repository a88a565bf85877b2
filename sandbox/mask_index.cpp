#include "sandbox/mask_index.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <set>
#include <unordered_map>

#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

namespace asio = boost::asio;

/// A watch costs the kernel about a kilobyte.
constexpr std::size_t kMaxWatches = 32'768;
constexpr std::size_t kMaxWorkspaces = 8;
constexpr std::uint32_t kWatched =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ONLYDIR | IN_EXCL_UNLINK;

}  // namespace

/// One workspace. Belongs to the loop, except while `busy_`: then the walker has what `look` and `watch` touch.
class MaskIndex::Entry : public std::enable_shared_from_this<Entry> {
 public:
  Entry(std::string workspace, MaskRequest request)
      : workspace_(std::move(workspace)),
        request_(std::move(request)),
        walk_(request_, [this](int directory, const std::string& prefix) { watch(directory, prefix); }) {}

  bool answers(const MaskRequest& request) const { return request == request_; }

  void find(asio::io_context& loop, const std::weak_ptr<asio::thread_pool>& walkers, Reply reply) {
    if (!busy_) {
      read_events();
      if (is_current()) return reply(walk_.masked());
    }
    waiting_.push_back(std::move(reply));
    if (!busy_) start(loop, walkers);
  }

 private:
  bool is_current() const { return watching_ && !again_ && directories_.empty() && files_.empty(); }

  void start(asio::io_context& loop, const std::weak_ptr<asio::thread_pool>& walkers) {
    const std::shared_ptr<asio::thread_pool> pool = walkers.lock();
    if (!pool) return;
    busy_ = true;
    asio::post(*pool, [self = shared_from_this(), &loop, guard = asio::make_work_guard(loop)] {
      self->look();
      asio::post(loop, [self] { self->answer(); });
    });
  }

  /// On the walker's thread.
  void look() {
    const UniqueFd root(open(workspace_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!watching_ || again_) {
      start_watching();
      walk_.whole(root.get());
    } else {
      for (const std::string& path : directories_) walk_.subtree(root.get(), path);
      for (const std::string& path : files_) walk_.file(root.get(), path);
    }
    if (walk_.has_links()) watching_ = false;
  }

  void start_watching() {
    watched_.clear();
    events_.reset();
    watching_ = !too_many_ && !walk_.has_links();
    if (watching_) events_.reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    watching_ = watching_ && events_;
  }

  void watch(int directory, const std::string& prefix) {
    if (!watching_) return;
    // By descriptor: the directory that was opened, whatever its name is by now.
    const std::string place = "/proc/self/fd/" + std::to_string(directory);
    const int id = watched_.size() < kMaxWatches ? inotify_add_watch(events_.get(), place.c_str(), kWatched) : -1;
    if (id >= 0) {
      watched_[id] = prefix;
      return;
    }
    too_many_ = true;
    watching_ = false;
    events_.reset();
  }

  void answer() {
    busy_ = false;
    again_ = false;
    directories_.clear();
    files_.clear();
    const std::vector<std::string> masked = walk_.masked();
    auto waiting = std::exchange(waiting_, {});
    for (Reply& reply : waiting) reply(masked);
  }

  void read_events() {
    alignas(inotify_event) std::array<char, 65536> buffer;
    while (watching_) {
      const ssize_t got = ::read(events_.get(), buffer.data(), buffer.size());
      if (got <= 0) return;
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        note(event->mask, event->wd, event->len > 0 ? event->name : "");
        at += sizeof(inotify_event) + event->len;
      }
    }
  }

  void note(std::uint32_t what, int id, const std::string& name) {
    if (what & IN_Q_OVERFLOW) again_ = true;
    if (what & IN_IGNORED) watched_.erase(id);
    const auto place = watched_.find(id);
    if (again_ || name.empty() || place == watched_.end()) return;
    const std::string path = place->second + name;
    if ((what & IN_ISDIR) == 0) return note_file(what, path);
    // A directory that moved takes its watches along under names that are no longer right.
    if (what & (IN_MOVED_FROM | IN_MOVED_TO)) again_ = true;
    if (what & IN_CREATE) directories_.insert(path);
  }

  void note_file(std::uint32_t what, const std::string& path) {
    struct stat info {};
    // A new name of a file that has others: perhaps of a secret.
    const bool linked = (what & (IN_CREATE | IN_MOVED_TO)) != 0 &&
                        lstat((workspace_ + "/" + path).c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
                        info.st_nlink > 1;
    if (linked) again_ = true;
    if (walk_.concerns(path)) files_.insert(path);
  }

  const std::string workspace_;
  const MaskRequest request_;
  UniqueFd events_;
  MaskWalk walk_;
  std::unordered_map<int, std::string> watched_;  ///< watch → prefix
  bool watching_ = false;                         ///< what was found is kept up to date by events
  bool too_many_ = false;                         ///< more directories than may be watched
  bool busy_ = false, again_ = false;
  std::set<std::string> directories_, files_;  ///< to be looked at again
  std::vector<Reply> waiting_;
};

MaskIndex::MaskIndex(asio::io_context& loop, std::weak_ptr<asio::thread_pool> walkers)
    : loop_(loop), walkers_(std::move(walkers)) {}

MaskIndex::~MaskIndex() = default;

void MaskIndex::find(const std::string& workspace, const MaskRequest& request, Reply reply) {
  std::shared_ptr<Entry>& entry = entries_[workspace];
  if (!entry || !entry->answers(request)) {
    if (entries_.size() > kMaxWorkspaces) {
      entries_.clear();
      return find(workspace, request, std::move(reply));
    }
    entry = std::make_shared<Entry>(workspace, request);
  }
  entry->find(loop_, walkers_, std::move(reply));
}

}  // namespace escrow::sandbox

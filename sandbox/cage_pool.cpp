#include "sandbox/cage_pool.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <string>
#include <thread>

#include "sandbox/packet.h"
#include "sandbox/reap.h"

namespace escrow::sandbox {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;
using std::chrono::milliseconds;

/// Nothing happened for so long: a new sandbox disturbs nobody.
constexpr milliseconds kQuiet{20};
/// With a command running and a core free.
constexpr milliseconds kCalm{100};
constexpr milliseconds kBetweenLaunches{10};
constexpr std::chrono::seconds kUpkeep{30};
/// A plan this old is made again before it is relied on.
constexpr std::chrono::seconds kPlanLasts{5};
constexpr std::size_t kMaxKinds = 4;
constexpr std::size_t kRemembered = 64;
constexpr int kMaxFailures = 3;

/// A sandbox that has no command yet.
struct Waiting {
  explicit Waiting(asio::io_context& loop) : control(loop) {}
  LaunchedCage cage;
  asio::posix::stream_descriptor control;
};

/// Sandboxes of one workspace and profile.
struct Kind {
  Profile profile;
  CagePlan plan;
  Clock::time_point planned = Clock::now(), used = Clock::now(), grown = Clock::now();
  std::size_t wanted = 0;
  int failures = 0;
  std::list<std::shared_ptr<Waiting>> cages = {};
};

/// What of a profile its sandboxes depend on before a command is known.
bool same_walls(const Profile& a, const Profile& b) {
  return a.name == b.name && a.workspace == b.workspace && a.read == b.read &&
         a.limits.memory_bytes == b.limits.memory_bytes;
}

class Pool : public CagePool, public std::enable_shared_from_this<Pool> {
 public:
  Pool(asio::io_context& loop, const ExecutorOptions& options)
      : loop_(loop), options_(options), size_(options.pool), timer_(loop) {}
  ~Pool() override {
    // A sandbox that is listened to holds itself alive.
    for (Kind& kind : kinds_) discard(kind);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Result<LaunchedCage> take(const Profile& profile) override {
    if (size_.most == 0) {
      const Result<CagePlan> plan = plan_cage(options_, profile);
      if (!plan) return plan.error();
      return launch_cage(options_, *plan);
    }
    Result<Kind*> kind = kind_of(profile);
    if (!kind) return kind.error();
    (*kind)->used = Clock::now();
    ++running_;
    schedule(kQuiet);
    if (std::optional<LaunchedCage> waiting = take_waiting(**kind)) return std::move(*waiting);
    grow(**kind);
    ++status_.cold;
    Result<LaunchedCage> cold = launch_cage(options_, (*kind)->plan);
    if (!cold) --running_;
    return cold;
  }

  void prepare(const Profile& profile) override {
    if (size_.most == 0) return;
    if (Result<Kind*> kind = kind_of(profile)) {
      (*kind)->used = Clock::now();
      schedule(kQuiet);
    }
  }

  void began(bool warm, Clock::duration hand_off) override {
    if (!warm) return;
    ++status_.warm;
    if (hand_off > kHandOffGoal) ++status_.slow;
    hand_offs_.push_back(std::chrono::duration_cast<std::chrono::microseconds>(hand_off));
    if (hand_offs_.size() > kRemembered) hand_offs_.pop_front();
  }

  void over() override {
    if (running_ > 0) --running_;
    schedule(kQuiet);
  }

  PoolStatus status() const override {
    PoolStatus status = status_;
    for (const Kind& kind : kinds_) {
      status.wanted += kind.wanted;
      for (const auto& waiting : kind.cages) status.ready += waiting->cage.listeners ? 1u : 0u;
    }
    std::vector<std::chrono::microseconds> sorted(hand_offs_.begin(), hand_offs_.end());
    std::sort(sorted.begin(), sorted.end());
    if (!sorted.empty()) {
      status.typical = sorted[sorted.size() / 2];
      status.worst = sorted.back();
    }
    return status;
  }

 private:
  Result<Kind*> kind_of(const Profile& profile) {
    const auto found =
        std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return same_walls(kind.profile, profile); });
    if (found == kinds_.end()) return add_kind(profile);
    if (Clock::now() - found->planned < kPlanLasts) return &*found;
    Result<CagePlan> plan = plan_cage(options_, profile);
    if (!plan) {
      kinds_.erase(found);
      return plan.error();
    }
    found->planned = Clock::now();
    if (found->plan != *plan) {
      discard(*found);
      found->plan = std::move(*plan);
    }
    return &*found;
  }

  Result<Kind*> add_kind(const Profile& profile) {
    Result<CagePlan> plan = plan_cage(options_, profile);
    if (!plan) return plan.error();
    if (kinds_.size() >= kMaxKinds) drop_oldest();
    kinds_.push_back({.profile = profile, .plan = std::move(*plan), .wanted = size_.least});
    return &kinds_.back();
  }

  void drop_oldest() {
    const auto oldest =
        std::min_element(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) { return a.used < b.used; });
    discard(*oldest);
    kinds_.erase(oldest);
  }

  /// More commands at once than sandboxes wait: a burst.
  void grow(Kind& kind) {
    if (running_ <= kind.wanted) return;
    kind.wanted = std::min(kind.wanted + 1, size_.most);
    kind.grown = Clock::now();
  }

  /// One that is ready, else one that is about to be.
  std::optional<LaunchedCage> take_waiting(Kind& kind) {
    auto best = std::find_if(kind.cages.begin(), kind.cages.end(), [](const auto& w) { return !!w->cage.listeners; });
    if (best == kind.cages.end()) best = kind.cages.begin();
    if (best == kind.cages.end()) return std::nullopt;
    const std::shared_ptr<Waiting> waiting = *best;
    kind.cages.erase(best);
    if (!waiting->cage.listeners) {
      grow(kind);
      ++status_.cold;
    }
    waiting->cage.control.reset(waiting->control.release());
    return std::move(waiting->cage);
  }

  /// Closing the channel is what ends it.
  void discard(Waiting& waiting) {
    ErrorCode ignored;
    waiting.control.close(ignored);
    reap_when_ended(loop_, std::move(waiting.cage.process));
  }

  void discard(Kind& kind) {
    for (const auto& waiting : kind.cages) discard(*waiting);
    kind.cages.clear();
  }

  // ---- Refilling

  void schedule(Clock::duration delay) {
    timer_.expires_after(delay);
    timer_.async_wait([weak = weak_from_this()](ErrorCode error) {
      const auto self = weak.lock();
      if (!error && self) self->tick();
    });
  }

  void tick() {
    shrink();
    const auto needy = std::find_if(kinds_.begin(), kinds_.end(), [](const Kind& kind) {
      return kind.cages.size() < kind.wanted && kind.failures < kMaxFailures;
    });
    if (needy == kinds_.end()) {
      if (!kinds_.empty()) schedule(kUpkeep);
      return;
    }
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    if (running_ >= cores) return schedule(kCalm);
    if (running_ > 0 && !calm_) {
      calm_ = true;
      return schedule(kCalm);
    }
    calm_ = false;
    launch(*needy);
    schedule(kBetweenLaunches);
  }

  void shrink() {
    const Clock::time_point now = Clock::now();
    for (auto kind = kinds_.begin(); kind != kinds_.end();) {
      if (now - kind->used > size_.idle) {
        discard(*kind);
        kind = kinds_.erase(kind);
        continue;
      }
      if (kind->wanted > size_.least && now - kind->grown > 2 * kUpkeep) {
        --kind->wanted;
        kind->grown = now;
      }
      while (kind->cages.size() > kind->wanted) {
        discard(*kind->cages.front());
        kind->cages.pop_front();
      }
      ++kind;
    }
  }

  void launch(Kind& kind) {
    Result<LaunchedCage> cage = launch_cage(options_, kind.plan);
    if (!cage) {
      ++kind.failures;
      return;
    }
    auto waiting = std::make_shared<Waiting>(loop_);
    waiting->cage = std::move(*cage);
    waiting->control.assign(waiting->cage.control.release());
    kind.cages.push_back(waiting);
    listen(waiting);
  }

  void listen(const std::shared_ptr<Waiting>& waiting) {
    waiting->control.async_wait(asio::posix::stream_descriptor::wait_read,
                                [weak = weak_from_this(), waiting](ErrorCode error) {
                                  const auto self = weak.lock();
                                  if (!error && self) self->hear(waiting);
                                });
  }

  /// It says that it is ready; whatever else it says, it is of no use.
  void hear(const std::shared_ptr<Waiting>& waiting) {
    Result<std::optional<Packet>> packet = receive_packet(waiting->control.native_handle(), MSG_DONTWAIT);
    if (!packet && is_nothing_to_read(packet.error())) return listen(waiting);
    for (Kind& kind : kinds_) {
      const auto found = std::find(kind.cages.begin(), kind.cages.end(), waiting);
      if (found == kind.cages.end()) continue;
      if (packet && *packet && (*packet)->type == PacketType::ready) {
        kind.failures = 0;
        waiting->cage.listeners = std::move((*packet)->fds);
        return listen(waiting);
      }
      ++kind.failures;
      discard(*waiting);
      kind.cages.erase(found);
      return;
    }
  }

  asio::io_context& loop_;
  const ExecutorOptions& options_;
  const PoolSize size_;
  asio::steady_timer timer_;
  std::list<Kind> kinds_;
  std::size_t running_ = 0;
  bool calm_ = false;
  PoolStatus status_;
  std::deque<std::chrono::microseconds> hand_offs_;
};

}  // namespace

std::shared_ptr<CagePool> make_cage_pool(asio::io_context& loop, const ExecutorOptions& options) {
  return std::make_shared<Pool>(loop, options);
}

}  // namespace escrow::sandbox

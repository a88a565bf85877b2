#include "sandbox/egress_guard.h"

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <map>
#include <optional>

#include "sandbox/dns_message.h"
#include "sandbox/egress_rules.h"
#include "sandbox/proxy_request.h"
#include "sandbox/refused_targets.h"
#include "sandbox/socks_request.h"
#include "sandbox/tls_hello.h"

namespace escrow::sandbox {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kMostConnections = 256;
constexpr std::size_t kMostNames = 1024;
constexpr std::chrono::seconds kRequestLimit{10}, kConnectLimit{30}, kHelloLimit{60};
constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

/// What a connection asks of its guard.
class Judge {
 public:
  virtual ~Judge() = default;
  /// Remembers a refusal.
  virtual bool allows(const HostPort& target) = 0;
  virtual bool is_reachable(const asio::ip::address& address) const = 0;
  virtual void refuse(const HostPort& target) = 0;
};

std::string refusal(const std::string& what) {
  const std::string body = "escrow: " + what + "\n";
  return "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nX-Escrow: egress-refused\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

/// What a client that was told of our decision understands.
enum class Speech {
  http,   ///< asked the proxy, or port 80 of a name
  socks,  ///< asked the proxy by SOCKS5
  none,   ///< connected to port 443 of a name: it knows of no proxy
};

/// One connection of the guest: what it wants is read, judged, resolved, connected, and then bytes flow both ways. Of a
/// tunnel the first bytes are looked at: TLS must be with a host that is allowed, whatever was asked for.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket client, std::weak_ptr<Judge> judge)
      : client_(std::move(client)),
        server_(client_.get_executor()),
        resolver_(client_.get_executor()),
        timer_(client_.get_executor()),
        judge_(std::move(judge)) {}

  /// To the proxy: its request says where. HTTP begins with a letter, SOCKS5 with its version.
  void read_request() {
    arm(kRequestLimit);
    client_.async_receive(asio::buffer(first_), tcp::socket::message_peek,
                          [self = shared_from_this()](ErrorCode error, std::size_t size) {
                            if (error || size == 0) return self->close();
                            if (self->first_[0] == 5) return self->read_socks_greeting();
                            self->read_http_head();
                          });
  }

  /// By a name that was resolved to an address of ours.
  void connect_to(const HostPort& target) {
    target_ = target;
    speech_ = target.port == 443 ? Speech::none : Speech::http;
    arm(kConnectLimit);
    const auto judge = judge_.lock();
    if (judge && judge->allows(target_)) return resolve();
    close();
  }

  void close() {
    ErrorCode ignored;
    timer_.cancel();
    resolver_.cancel();
    client_.close(ignored);
    server_.close(ignored);
  }

 private:
  void arm(std::chrono::seconds limit) {
    timer_.expires_after(limit);
    timer_.async_wait([weak = weak_from_this()](ErrorCode error) {
      if (const auto self = weak.lock(); self && !error) self->close();
    });
  }

  // ---- What is asked for

  void read_http_head() {
    asio::async_read_until(client_, asio::dynamic_buffer(head_, kMaxProxyHead), "\r\n\r\n",
                           [self = shared_from_this()](ErrorCode error, std::size_t size) {
                             if (error) return self->close();
                             self->take_http(size);
                           });
  }

  void take_http(std::size_t size) {
    const std::optional<ProxyRequest> request = parse_proxy_request(std::string_view(head_).substr(0, size));
    if (!request) return refuse_client("this request to the proxy cannot be read in one way only");
    tunnel_ = request->tunnel;
    to_server_ = request->forward;
    // Of what follows the head, only the body is the server's, unless the connection is a tunnel.
    from_client_left_ = tunnel_ ? kUnbounded : request->body_bytes;
    head_.erase(0, size);
    begin_with(request->target);
  }

  /// Reads until as much is there as `size` says of what is there already.
  template <class Next>
  void read_message(std::size_t (*size)(std::string_view), Next next) {
    const std::size_t wanted = size(head_);
    if (head_.size() >= wanted) return next();
    asio::async_read(client_, asio::dynamic_buffer(head_), asio::transfer_exactly(wanted - head_.size()),
                     [self = shared_from_this(), size, next](ErrorCode error, std::size_t) {
                       if (error) return self->close();
                       self->read_message(size, next);
                     });
  }

  void read_socks_greeting() {
    speech_ = Speech::socks;
    read_message(socks_greeting_size, [self = shared_from_this()] {
      const bool open = offers_no_authentication(self->head_);
      self->head_.clear();
      self->tell(open ? std::string("\x05\x00", 2) : std::string("\x05\xff", 2), [self, open] {
        if (!open) return self->close();
        self->read_message(socks_request_size, [self] { self->take_socks(); });
      });
    });
  }

  void take_socks() {
    const std::optional<HostPort> target = parse_socks_request(head_);
    head_.clear();
    tunnel_ = true;
    if (!target) return refuse_client("this request to the proxy cannot be read in one way only");
    begin_with(*target);
  }

  void begin_with(const HostPort& target) {
    const auto judge = judge_.lock();
    if (!judge) return close();
    target_ = target;
    if (!judge->allows(target_))
      return refuse_client(to_string(target_) + " is not among the hosts that this command may reach",
                           SocksReply::not_allowed);
    arm(kConnectLimit);
    resolve();
  }

  // ---- The way there

  void resolve() {
    resolver_.async_resolve(target_.host, std::to_string(target_.port), tcp::resolver::numeric_service,
                            [self = shared_from_this()](ErrorCode error, const tcp::resolver::results_type& found) {
                              self->connect(error, found);
                            });
  }

  /// A name that resolves to one private address is not tried at its others either.
  void connect(ErrorCode error, const tcp::resolver::results_type& found) {
    const auto judge = judge_.lock();
    if (!judge || !client_.is_open()) return;
    if (error) return refuse_client(to_string(target_) + ": " + error.message(), SocksReply::unreachable);
    for (const auto& entry : found) {
      if (judge->is_reachable(entry.endpoint().address())) continue;
      judge->refuse(target_);
      return refuse_client(to_string(target_) + " resolves to " + entry.endpoint().address().to_string() +
                               ", which is not a public address",
                           SocksReply::not_allowed);
    }
    asio::async_connect(server_, found, [self = shared_from_this()](ErrorCode failed, const tcp::endpoint&) {
      if (!self->client_.is_open()) return;
      if (failed)
        return self->refuse_client(to_string(self->target_) + ": " + failed.message(), SocksReply::unreachable);
      self->begin();
    });
  }

  void begin() {
    timer_.cancel();
    if (!tunnel_) return flow();
    tell(speech_ == Speech::socks ? socks_reply(SocksReply::succeeded) : "HTTP/1.1 200 Connection established\r\n\r\n",
         [self = shared_from_this()] { self->flow(); });
  }

  // ---- Both ways

  void flow() {
    downstream();
    if (tunnel_ || speech_ == Speech::none) {
      if (target_.port == 443) arm(kHelloLimit);
      return inspect();
    }
    const auto body = static_cast<std::size_t>(std::min<std::uint64_t>(head_.size(), from_client_left_));
    to_server_ += head_.substr(0, body);
    take_from_client(body);
    forward();
  }

  void forward() {
    asio::async_write(server_, asio::buffer(to_server_), [self = shared_from_this()](ErrorCode error, std::size_t) {
      if (error) return self->close();
      self->upstream();
    });
  }

  /// Nothing reaches the server before the first bytes are understood. Others than TLS may go where no TLS is expected,
  /// and SSH, which some hosts answer at 443, there too.
  void inspect() {
    const TlsHello hello = read_tls_hello(head_);
    switch (hello.state) {
      case TlsHello::State::incomplete:
        if (head_.size() > kMaxTlsHello) return close();
        return read_more();
      case TlsHello::State::not_tls:
        if (target_.port == 443 && head_.size() < 4) return read_more();
        if (target_.port == 443 && !head_.starts_with("SSH-")) return refuse_hello(target_);
        break;
      case TlsHello::State::malformed:
        return refuse_hello(target_);
      case TlsHello::State::complete:
        if (!is_expected(hello.server_name)) return close();
    }
    timer_.cancel();
    to_server_ = std::move(head_);
    forward();
  }

  void read_more() {
    client_.async_read_some(asio::buffer(up_), [self = shared_from_this()](ErrorCode error, std::size_t count) {
      if (error) return self->end_upstream();
      self->head_.append(self->up_.data(), count);
      self->inspect();
    });
  }

  /// The name in the hello is that of the host that was asked for, or of another one that is allowed. An address needs
  /// none. Remembers a refusal.
  bool is_expected(const std::string& server_name) {
    const auto judge = judge_.lock();
    if (!judge) return false;
    if (server_name == target_.host) return true;
    if (server_name.empty() && is_address(target_.host)) return true;
    const std::optional<std::string> name = canonical_host(server_name);
    if (name) return judge->allows({*name, target_.port});
    judge->refuse(target_);
    return false;
  }

  static bool is_address(const std::string& host) {
    ErrorCode error;
    asio::ip::make_address(host, error);
    return !error;
  }

  void refuse_hello(const HostPort& target) {
    if (const auto judge = judge_.lock()) judge->refuse(target);
    close();
  }

  void take_from_client(std::uint64_t count) {
    if (from_client_left_ != kUnbounded) from_client_left_ -= count;
  }

  void end_upstream() {
    ErrorCode ignored;
    server_.shutdown(tcp::socket::shutdown_send, ignored);
  }

  void upstream() {
    if (from_client_left_ == 0) return;
    const std::size_t room = static_cast<std::size_t>(std::min<std::uint64_t>(up_.size(), from_client_left_));
    client_.async_read_some(asio::buffer(up_.data(), room), [self = shared_from_this()](ErrorCode error,
                                                                                        std::size_t count) {
      if (error) return self->end_upstream();
      self->take_from_client(count);
      asio::async_write(self->server_, asio::buffer(self->up_.data(), count), [self](ErrorCode failed, std::size_t) {
        if (failed) return self->close();
        self->upstream();
      });
    });
  }

  void downstream() {
    server_.async_read_some(asio::buffer(down_), [self = shared_from_this()](ErrorCode error, std::size_t count) {
      ErrorCode ignored;
      if (error) return void(self->client_.shutdown(tcp::socket::shutdown_send, ignored));
      asio::async_write(self->client_, asio::buffer(self->down_.data(), count), [self](ErrorCode failed, std::size_t) {
        if (failed) return self->close();
        self->downstream();
      });
    });
  }

  // ---- What the client hears of us

  template <class Next>
  void tell(std::string text, Next next) {
    greeting_ = std::move(text);
    asio::async_write(client_, asio::buffer(greeting_),
                      [self = shared_from_this(), next](ErrorCode error, std::size_t) {
                        if (error) return self->close();
                        next();
                      });
  }

  /// Says why, if there is somebody who understands it.
  void refuse_client(const std::string& why, SocksReply code = SocksReply::failed) {
    const auto end = [self = shared_from_this()] { self->close(); };
    switch (speech_) {
      case Speech::http:
        return tell(refusal(why), end);
      case Speech::socks:
        return tell(socks_reply(code), end);
      case Speech::none:
        return close();
    }
  }

  tcp::socket client_, server_;
  tcp::resolver resolver_;
  asio::steady_timer timer_;
  std::weak_ptr<Judge> judge_;
  HostPort target_;
  Speech speech_ = Speech::http;
  bool tunnel_ = false;
  std::uint64_t from_client_left_ = kUnbounded;
  std::array<unsigned char, 1> first_{};
  std::string head_, to_server_, greeting_;
  std::array<char, 16384> up_, down_;
};

class Guard : public EgressGuard, public Judge, public std::enable_shared_from_this<Guard> {
 public:
  Guard(asio::io_context& loop, const EgressPolicy& policy)
      : rules_(policy.allow),
        allow_private_(policy.allow_private),
        proxy_(loop),
        https_(loop),
        http_(loop),
        names_(loop) {}

  ~Guard() override {
    for (const std::weak_ptr<Connection>& weak : connections_)
      if (const auto connection = weak.lock()) connection->close();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  void start(std::vector<UniqueFd> listeners) {
    proxy_.assign(tcp::v4(), listeners[0].release());
    names_.assign(udp::v4(), listeners[1].release());
    https_.assign(tcp::v4(), listeners[2].release());
    http_.assign(tcp::v4(), listeners[3].release());
    accept(proxy_);
    accept(https_);
    accept(http_);
    answer_names();
  }

  std::vector<std::string> refused() const override { return refused_.list(); }

  bool allows(const HostPort& target) override {
    if (rules_.allows(target)) return true;
    refuse(target);
    return false;
  }
  void refuse(const HostPort& target) override { refused_.add(target.host, target.port); }
  bool is_reachable(const asio::ip::address& address) const override {
    if (allow_private_) return true;
    return address.is_v4() ? is_public_address(address.to_v4().to_bytes())
                           : is_public_address(address.to_v6().to_bytes());
  }

 private:
  void accept(tcp::acceptor& acceptor) {
    acceptor.async_accept([weak = weak_from_this(), &acceptor](ErrorCode error, tcp::socket socket) {
      const std::shared_ptr<Guard> self = weak.lock();
      if (!self || error == asio::error::operation_aborted) return;
      if (!error) self->welcome(acceptor, std::move(socket));
      self->accept(acceptor);
    });
  }

  void welcome(const tcp::acceptor& acceptor, tcp::socket socket) {
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
    if (connections_.size() >= kMostConnections) return;
    ErrorCode error;
    const tcp::endpoint local = socket.local_endpoint(error);
    if (error) return;
    auto connection = std::make_shared<Connection>(std::move(socket), weak_from_this());
    connections_.push_back(connection);
    if (&acceptor == &proxy_) return connection->read_request();
    const auto name = std::find_if(resolved_.begin(), resolved_.end(), [&](const auto& entry) {
      return entry.second == local.address().to_v4().to_bytes();
    });
    if (name != resolved_.end()) connection->connect_to({name->first, local.port()});
  }

  void answer_names() {
    names_.async_receive_from(asio::buffer(query_), asker_,
                              [weak = weak_from_this()](ErrorCode error, std::size_t size) {
                                const std::shared_ptr<Guard> self = weak.lock();
                                if (!self || error == asio::error::operation_aborted) return;
                                if (!error) self->answer_name({self->query_.data(), size});
                                self->answer_names();
                              });
  }

  void answer_name(std::string_view message) {
    const std::optional<DnsQuestion> question = parse_dns_query(message);
    if (!question) return;
    const std::string reply = reply_to(*question);
    ErrorCode ignored;
    names_.send_to(asio::buffer(reply), asker_, 0, ignored);
  }

  std::string reply_to(const DnsQuestion& question) {
    if (!rules_.allows_some_port(question.name)) {
      refused_.add_name(question.name);
      return dns_no_such_name(question);
    }
    if (question.type != kDnsA) return dns_answer(question, std::nullopt);
    if (!resolved_.contains(question.name) && resolved_.size() >= kMostNames) return dns_no_such_name(question);
    const std::size_t next = resolved_.size() + 1;
    const auto [entry, added] =
        resolved_.try_emplace(question.name, std::array<std::uint8_t, 4>{127, 64, static_cast<std::uint8_t>(next >> 8),
                                                                         static_cast<std::uint8_t>(next & 0xff)});
    return dns_answer(question, entry->second);
  }

  EgressRules rules_;
  bool allow_private_;
  RefusedTargets refused_;
  tcp::acceptor proxy_, https_, http_;
  udp::socket names_;
  udp::endpoint asker_;
  std::array<char, 4096> query_;
  std::map<std::string, std::array<std::uint8_t, 4>> resolved_;
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace

std::shared_ptr<EgressGuard> make_egress_guard(asio::io_context& loop, std::vector<UniqueFd> listeners,
                                               const EgressPolicy& policy) {
  if (listeners.size() != 4) return nullptr;
  auto guard = std::make_shared<Guard>(loop, policy);
  guard->start(std::move(listeners));
  return guard;
}

}  // namespace escrow::sandbox

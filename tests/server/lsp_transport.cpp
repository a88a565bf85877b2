#include "server/lsp/transport.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>

#include "protocol/lsp_types.h"
#include "server/lsp/binder.h"
#include "server/lsp/process_watch.h"
#include "tests/catch.h"

using namespace escrow;
using namespace escrow::server::lsp;

namespace {

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    read_end = ends[0];
    write_end = ends[1];
  }
};

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd, bytes.data(), bytes.size());
    REQUIRE(size > 0);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

/// Bodies until the other end closes.
std::vector<std::string> read_bodies(int fd) {
  protocol::FrameReader reader;
  std::vector<std::string> out;
  std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    reader.feed(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
    while (auto body = reader.next()) out.push_back(body->value());
  }
  return out;
}

Outgoing message(std::string body) {
  return {std::move(body), {}, Outgoing::Weight::required};
}

/// A child that waits to be killed, and is.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
    REQUIRE(pid_ > 0);
  }
  ~Child() { kill(); }
  pid_t pid() const { return pid_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("frames come in whole and go out whole, and the end is told once") {
  Pipe in, out;
  std::vector<std::string> heard;
  std::promise<void> ended;
  {
    Transport transport({.in = in.read_end, .out = out.write_end});
    transport.start([&](protocol::Result<std::string> frame) { heard.push_back(frame ? *frame : "<error>"); },
                    [&] { ended.set_value(); });
    for (const auto body : {"one", "two", "three"}) transport.send(message(body));
    write_all(in.write_end, protocol::frame("a") + "Content-Length: x\r\n\r\n" + protocol::frame("b"));
    ::close(in.write_end);
    ended.get_future().wait();
    transport.finish(std::chrono::seconds(10));
  }
  CHECK(heard == std::vector<std::string>{"a", "<error>", "b"});
  CHECK(read_bodies(out.read_end) == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("a frame larger than a pipe goes through while the reader is slow") {
  Pipe in, out;
  const std::string body(3'000'000, 'x');
  auto reader = std::async(std::launch::async, [&] { return read_bodies(out.read_end); });
  {
    Transport transport({.in = in.read_end, .out = out.write_end});
    transport.start([](auto) {}, [] {});
    transport.send(message(body));
    transport.send(message("after"));
    transport.finish(std::chrono::seconds(60));
  }
  CHECK(reader.get() == std::vector<std::string>{body, "after"});
  ::close(in.write_end);
}

TEST_CASE("a torn last frame is reported before the end") {
  Pipe in, out;
  std::vector<std::string> heard;
  std::promise<void> ended;
  Transport transport({.in = in.read_end, .out = out.write_end});
  transport.start([&](protocol::Result<std::string> frame) { heard.push_back(frame ? *frame : frame.error().message); },
                  [&] { ended.set_value(); });
  write_all(in.write_end, "Content-Length: 10\r\n\r\n{}");
  ::close(in.write_end);
  ended.get_future().wait();
  CHECK(heard == std::vector<std::string>{"the stream ended in the middle of a frame"});
}

TEST_CASE("a client that closes its end is an end, not a broken-pipe death") {
  Pipe in, out;
  ::close(out.read_end);
  std::promise<void> ended;
  Transport transport({.in = in.read_end, .out = out.write_end});
  transport.start([](auto) {}, [&] { ended.set_value(); });
  transport.send(message("into the void"));
  ended.get_future().wait();
  transport.send(message("and more"));
  ::close(in.write_end);
}

TEST_CASE("sending never waits for a client that does not read, and gives it up at last") {
  Pipe in, out;
  std::promise<void> ended;
  Transport transport({.in = in.read_end, .out = out.write_end, .queue = {.give_up_above = 1'000'000}});
  transport.start([](auto) {}, [&] { ended.set_value(); });
  for (int i = 0; i < 300; ++i) transport.send(message(std::string(10'000, 'x')));
  ended.get_future().wait();
  transport.finish(std::chrono::seconds(10));
  ::close(in.write_end);
}

TEST_CASE("finishing gives up on a full pipe when its patience ends") {
  Pipe in, out;
  Transport transport({.in = in.read_end, .out = out.write_end});
  transport.start([](auto) {}, [] {});
  transport.send(message(std::string(1'000'000, 'x')));
  transport.finish(std::chrono::milliseconds(10));
  ::close(in.write_end);
}

TEST_CASE("a connection over pipes: a whole session, answered and ended") {
  Pipe in, out;
  boost::asio::io_context loop;
  auto work = boost::asio::make_work_guard(loop);
  Binder binder;
  binder.request<protocol::NoParams>("initialize", [](auto, Reply reply) { reply(protocol::InitializeResult{}); });
  Connection connection(loop, binder, {});
  int code = -1;
  connection.on_exit([&](int value) {
    code = value;
    loop.stop();
  });
  {
    Transport transport({.in = in.read_end, .out = out.write_end});
    serve(connection, transport);
    write_all(in.write_end, protocol::frame(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})") +
                                protocol::frame("{") + protocol::frame(R"({"jsonrpc":"2.0","id":2,"method":"x"})") +
                                protocol::frame(R"({"jsonrpc":"2.0","id":3,"method":"shutdown"})"));
    ::close(in.write_end);
    loop.run();
    transport.finish(std::chrono::seconds(10));
  }
  CHECK(code == 0);
  const auto bodies = read_bodies(out.read_end);
  REQUIRE(bodies.size() == 4);
  CHECK(bodies[0] == R"({"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}})");
  CHECK(bodies[1].find("-32700") != std::string::npos);
  CHECK(bodies[2].find("-32601") != std::string::npos);
  CHECK(bodies[3] == R"({"jsonrpc":"2.0","id":3,"result":null})");
}

TEST_CASE("the death of the client's process ends the session although the pipe stays open") {
  Child editor;
  boost::asio::io_context loop;
  auto work = boost::asio::make_work_guard(loop);
  Binder binder;
  binder.request<protocol::NoParams>("initialize", [&](auto, Reply reply) {
    reply(protocol::InitializeResult{});
    editor.kill();
  });
  Connection connection(loop, binder, {});
  int code = -1;
  connection.on_exit([&](int value) {
    code = value;
    loop.stop();
  });
  connection.receive_text(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":)" +
                          std::to_string(editor.pid()) + "}}");
  loop.run();
  CHECK(code == 1);
}

TEST_CASE("a process id that is nobody's here is not taken for a death") {
  boost::asio::io_context loop;
  Child gone;
  const pid_t pid = gone.pid();
  gone.kill();
  CHECK(ProcessWatch::start(loop, pid, [] {}) == nullptr);
  CHECK(ProcessWatch::start(loop, 0, [] {}) == nullptr);
  CHECK(ProcessWatch::start(loop, -1, [] {}) == nullptr);
  CHECK(ProcessWatch::start(loop, std::int64_t{1} << 40, [] {}) == nullptr);
}

TEST_CASE("claimed standard descriptors are private, and what libraries print goes to standard error") {
  Pipe in, out, error;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(in.read_end, STDIN_FILENO);
    ::dup2(out.write_end, STDOUT_FILENO);
    ::dup2(error.write_end, STDERR_FILENO);
    const int own_out = claim_stdout();
    const int own_in = claim_stdin();
    const bool is_private = own_out > 2 && own_in > 2 && (::fcntl(own_out, F_GETFD) & FD_CLOEXEC) != 0 &&
                            (::fcntl(own_in, F_GETFD) & FD_CLOEXEC) != 0;
    char byte = 0;
    const bool empty_in = ::read(STDIN_FILENO, &byte, 1) == 0;
    const bool written = ::write(STDOUT_FILENO, "noise", 5) == 5 && ::write(own_out, "frame", 5) == 5;
    ::_exit(is_private && empty_in && written ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  ::close(out.write_end);
  ::close(error.write_end);
  std::array<char, 64> buffer;
  CHECK(std::string_view(buffer.data(), static_cast<std::size_t>(::read(out.read_end, buffer.data(), 64))) == "frame");
  CHECK(std::string_view(buffer.data(), static_cast<std::size_t>(::read(error.read_end, buffer.data(), 64))) ==
        "noise");
}

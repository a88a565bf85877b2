#include "server/lsp/run.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "server/install_paths.h"
#include "server/lsp/binder.h"
#include "server/lsp/connection.h"
#include "server/lsp/lsp_server.h"
#include "server/lsp/transport.h"

namespace escrow::server::lsp {
namespace {

/// How long the last answers may take to leave when the client is gone or slow.
constexpr std::chrono::milliseconds kFlushPatience{500};

std::string directory_or_none(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path : std::string();
}

}  // namespace

int run(const std::string& version) {
  const int out = claim_stdout();
  const int in = claim_stdin();
  if (out < 0 || in < 0) {
    std::fputs("escrow lsp: no standard input and output to speak on: an editor starts it\n", stderr);
    return 1;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a client that went away is an error of write(2), not our death
  const auto paths = find_install_paths();
  if (!paths) {
    std::fprintf(stderr, "escrow lsp: %s\n", paths.error().message.c_str());
    return 1;
  }
  const char* home = ::getenv("HOME");
  boost::asio::io_context loop;
  Binder binder;
  LspServer server(loop, binder,
                   {.version = version,
                    .libexec_dir = paths->libexec_dir,
                    .rules_dir = directory_or_none(paths->rules_dir),
                    .environment = process_environment(),
                    .home = home == nullptr ? std::string() : std::string(home),
                    .make_executor = {}});
  Connection connection(loop, binder, {});
  server.attach(connection);
  int status = 1;
  connection.on_exit([&](int code) {
    status = code;
    loop.stop();
  });
  Transport transport({.in = in, .out = out});
  serve(connection, transport);
  const auto work = boost::asio::make_work_guard(loop);
  loop.run();
  server.close();
  transport.finish(kFlushPatience);
  return status;
}

}  // namespace escrow::server::lsp

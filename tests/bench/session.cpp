#include "tests/bench/session.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <stdexcept>
#include <thread>
#include <utility>

namespace escrow::bench {
namespace {

json::object client_capabilities() {
  return {{"general", json::object{{"positionEncodings", json::array{"utf-8", "utf-16"}}}},
          {"experimental",
           json::object{{"escrow", json::object{{"version", 1}, {"notifications", json::array{"review", "exec"}}}}}}};
}

}  // namespace

Session::Session(const std::string& escrow, std::string root) : root_(std::move(root)), server_({escrow, "lsp"}) {}

Session::~Session() {
  try {
    call("shutdown", {});
    notify("exit", {});
  } catch (const std::exception&) {
    // It is gone already, which the row that broke it has said.
  }
}

void Session::initialize() {
  const json::array folders{json::object{{"uri", "file://" + root_}, {"name", "work"}}};
  call("initialize", {{"processId", nullptr},
                      {"rootUri", "file://" + root_},
                      {"workspaceFolders", folders},
                      {"capabilities", client_capabilities()}});
  notify("initialized", {});
}

void Session::register_agent() {
  const json::value granted = call("escrow/agent/register", {{"name", "bench"}, {"version", "1"}});
  agent_ = {{"agentId", granted.at("agentId")}, {"token", granted.at("token")}};
}

json::object Session::as_agent(json::object params) {
  for (const auto& member : agent_) params[member.key()] = member.value();
  return params;
}

std::string Session::request_text(std::int64_t id, std::string_view method, const json::object& params) const {
  return protocol::frame(
      json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}));
}

void Session::notify(std::string_view method, json::object params) {
  server_.write(protocol::frame(
      json::serialize(json::object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}})));
}

std::string Session::next_body() {
  while (true) {
    if (auto body = frames_.next()) {
      if (!*body) throw std::runtime_error("the server sent a broken frame");
      return std::move(**body);
    }
    frames_.feed(server_.read());
  }
}

json::value Session::call(std::string_view method, const json::object& params) {
  const std::int64_t id = ++last_id_;
  server_.write(request_text(id, method, params));
  while (true) {
    const json::object message = json::parse(next_body()).as_object();
    if (message.contains("method") || message.at("id") != json::value(id)) continue;
    if (const auto* error = message.if_contains("error"))
      throw std::runtime_error(std::string(method) + ": " + std::string(error->at("message").as_string()));
    return message.at("result");
  }
}

json::object Session::wait_for(std::string_view method) {
  while (true) {
    json::object message = json::parse(next_body()).as_object();
    const auto* name = message.if_contains("method");
    if (name != nullptr && name->as_string() == method) return std::move(message.at("params").as_object());
  }
}

double Session::time_burst(std::string_view method, std::size_t count) {
  std::string requests;
  for (std::size_t i = 0; i < count; ++i) requests += request_text(++last_id_, method, {});
  const double began = now_ns();
  // Both at once: one that only writes would wait for a server that waits to be read.
  std::thread writer([&] { server_.write(requests); });
  std::size_t answered = 0, refused = 0;
  while (answered < count) {
    const std::string body = next_body();
    if (body.find("\"method\":") != std::string::npos) continue;
    refused += body.find("\"error\":") != std::string::npos;
    ++answered;
  }
  const double took = now_ns() - began;
  writer.join();
  if (refused > 0) throw std::runtime_error(std::to_string(refused) + " requests were refused");
  return took;
}

}  // namespace escrow::bench

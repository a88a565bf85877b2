#include "engine/action.h"

#include <type_traits>

#include "engine/redact.h"
#include "engine/shell.h"

namespace escrow::engine {
namespace {

/// Length-prefixed, so that no two lists of fields read the same.
void put_field(std::string& out, std::string_view field) {
  out += std::to_string(field.size());
  out += ':';
  out += field;
  out += ';';
}

std::string port_text(const std::optional<int>& port) {
  return port ? std::to_string(*port) : std::string();
}

std::string text_of(const ShellAction& action) {
  return action.command;
}

std::string text_of(const ExecAction& action) {
  std::string out;
  for (const auto& [name, value] : action.env) out += name + "=" + quote_argv({value}) + " ";
  return out + quote_argv(action.argv);
}

std::string text_of(const FileAction& action) {
  std::string out(name_of(action.op));
  for (const std::string& path : action.paths) out += " " + path;
  return action.to.empty() ? out : out + " -> " + action.to;
}

std::string text_of(const NetworkAction& action) {
  return "connect to " + action.host + (action.port ? ":" + port_text(action.port) : "");
}

std::string text_of(const McpAction& action) {
  return "call " + action.tool + " of " + action.server;
}
std::string text_of(const OtherAction& action) {
  return action.label;
}

/// Line ends and tabs shown as escapes too: this text is one line whatever the action holds.
std::string on_one_line(const std::string& visible) {
  std::string out;
  out.reserve(visible.size());
  for (const char c : visible) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else
      out.push_back(c);
  }
  return out;
}

void put_fields(std::string& out, const ShellAction& action) {
  put_field(out, action.command);
  put_field(out, action.cwd);
}

void put_fields(std::string& out, const ExecAction& action) {
  put_field(out, std::to_string(action.argv.size()));
  for (const std::string& word : action.argv) put_field(out, word);
  put_field(out, action.cwd);
  for (const auto& [name, value] : action.env) {
    put_field(out, name);
    put_field(out, value);
  }
}

void put_fields(std::string& out, const FileAction& action) {
  put_field(out, name_of(action.op));
  put_field(out, std::to_string(action.paths.size()));
  for (const std::string& path : action.paths) put_field(out, path);
  put_field(out, action.to);
}

void put_fields(std::string& out, const NetworkAction& action) {
  put_field(out, action.host);
  put_field(out, port_text(action.port));
}

void put_fields(std::string& out, const McpAction& action) {
  put_field(out, action.server);
  put_field(out, action.tool);
  put_field(out, action.read_only_hint ? "1" : "0");
}

void put_fields(std::string& out, const OtherAction& action) {
  put_field(out, action.label);
}

}  // namespace

std::string describe(const Action& action) {
  return on_one_line(make_visible(std::visit([](const auto& one) { return text_of(one); }, action)));
}

std::string canonical_text(const Action& action) {
  static constexpr std::string_view kKinds[] = {"shell", "exec", "file", "network", "mcp", "other"};
  std::string out;
  put_field(out, kKinds[action.index()]);
  std::visit([&](const auto& one) { put_fields(out, one); }, action);
  return out;
}

}  // namespace escrow::engine

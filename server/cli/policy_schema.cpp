#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "server/cli/output.h"
#include "server/cli/policy_commands.h"
#include "server/store/policy_keys.h"

// escrow policy schema: the JSON Schema of a policy file, indented; docs/policy.schema.json is this, word for word.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

void indent(std::string& out, const json::value& value, std::size_t depth) {
  const auto* object = value.if_object();
  if (object == nullptr || object->empty()) {
    out += json::serialize(value);
    return;
  }
  out += "{";
  bool first = true;
  for (const auto& [key, member] : *object) {
    out += (first ? "\n" : ",\n") + std::string(2 * depth + 2, ' ') + json::serialize(json::string(key)) + ": ";
    indent(out, member, depth + 1);
    first = false;
  }
  out += "\n" + std::string(2 * depth, ' ') + "}";
}

int run_schema() {
  std::string text;
  indent(text, policy_schema(), 0);
  put(text + "\n");
  return kOk;
}

}  // namespace

void add_policy_schema(CommandTree& tree, CLI::App& group) {
  auto* app = group.add_subcommand("schema", "The JSON Schema of a policy file, for YAML language servers");
  tree.commands.push_back({"policy schema", app, [] { return run_schema(); }});
}

}  // namespace escrow::server::cli

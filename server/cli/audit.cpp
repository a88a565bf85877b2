#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <memory>

#include "engine/redact.h"
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/times.h"
#include "server/cli/workplace.h"
#include "server/json_out.h"
#include "server/store/audit_log.h"

// escrow audit: the append-only record, and its hash chain.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

struct AuditOptions {
  OutputOptions output;
  std::size_t lines = 20;
  std::string anchor;
};

Result<AuditLog> open_log() {
  const auto place = find_workplace();
  if (!place) return place.error();
  return AuditLog(place->places.state_dir + "/audit.jsonl");
}

std::string value_text(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  return json::serialize(value);
}

bool is_frame(std::string_view key) {
  return key == "seq" || key == "time" || key == "prev" || key == "event" || key == "hash";
}

std::string time_of(const json::object& entry) {
  const auto* time = entry.if_contains("time");
  if (time == nullptr) return {};
  return time->is_int64() ? local_time(time->get_int64()) : value_text(*time);
}

void print_entry(const json::object& entry, const Style& style) {
  const auto* event = entry.if_contains("event");
  std::string line = style.dim(time_of(entry)) + "  " + style.bold(event == nullptr ? "?" : value_text(*event));
  for (const auto& [key, value] : entry) {
    const auto text = value_text(value);
    if (is_frame(key) || text.empty() || text == "[]") continue;
    line += "  " + style.dim(std::string(key) + "=") + engine::one_line(text, 120);
  }
  put(line + "\n");
}

int run_show(const AuditOptions& options) {
  const auto log = open_log();
  if (!log) return fail(log.error().message);
  const auto entries = log->tail(options.lines);
  if (options.output.as_json()) {
    json::array all;
    for (const auto& entry : entries) all.emplace_back(entry);
    put_json({{"entries", std::move(all)}, {"path", json_text(log->file())}});
    return kOk;
  }
  const auto style = options.output.style();
  for (const auto& entry : entries) print_entry(entry, style);
  if (entries.empty()) put("the log is empty: " + log->file() + "\n");
  return kOk;
}

int run_verify(const AuditOptions& options) {
  const auto log = open_log();
  if (!log) return fail(log.error().message);
  const auto verified = log->verify(options.anchor);
  const auto style = options.output.style();
  if (options.output.as_json()) {
    put_json({{"ok", verified.ok},
              {"entries", verified.entries},
              {"lastHash", json_text(verified.last_hash)},
              {"problem", json_text(verified.problem)},
              {"path", json_text(log->file())}});
  } else if (verified.ok) {
    put(style.paint(Tone::green, "intact") + ": " + std::to_string(verified.entries) +
        (verified.entries == 1 ? " entry" : " entries") + " in one chain\n");
    put(style.dim("anchor  ") + verified.last_hash + "\n");
    if (options.anchor.empty()) {
      put(style.dim("Keep the anchor elsewhere: only with --anchor is a rewrite of the whole file seen.") + "\n");
    }
  } else {
    put(style.paint(Tone::alarm, "broken") + ": " + log->file() + ": " + engine::one_line(verified.problem, 400) +
        "\n");
  }
  return verified.ok ? kOk : kFlagged;
}

}  // namespace

void add_audit(CommandTree& tree) {
  auto* group = tree.root.add_subcommand("audit", "The record of decisions, executions and changes: show, verify");
  group->require_subcommand(1);
  auto shown = std::make_shared<AuditOptions>();
  auto* show = group->add_subcommand("show", "The newest entries, oldest first");
  show->add_option("-n,--lines", shown->lines, "how many (20)")->option_text("N")->check(CLI::Range(1, 1000000));
  add_output_options(*show, shown->output);
  tree.commands.push_back({"audit show", show, [shown] { return run_show(*shown); }});

  auto verified = std::make_shared<AuditOptions>();
  auto* verify = group->add_subcommand("verify", "Check order and integrity of the whole log");
  add_text(*verify, "--anchor", verified->anchor, "HASH", "a hash kept elsewhere that must occur in the chain");
  add_output_options(*verify, verified->output);
  tree.commands.push_back({"audit verify", verify, [verified] { return run_verify(*verified); }});
}

}  // namespace escrow::server::cli

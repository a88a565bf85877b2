#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "engine/redact.h"
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/times.h"
#include "server/cli/workplace.h"
#include "server/clock.h"
#include "server/json_out.h"
#include "server/store/audit_log.h"
#include "server/units.h"

// escrow audit: the append-only record, and its hash chain.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

struct AuditOptions {
  OutputOptions output;
  std::size_t lines = 20;
  std::string since, until, agent, kind, file, review;
  bool follow = false;
  std::string anchor;
};

/// How often a followed log is looked at.
constexpr std::chrono::milliseconds kFollowSpan{200};

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

/// `2h` is two hours ago; a number of 12 digits and more is a time in milliseconds, as entries have it.
Result<std::optional<std::int64_t>> moment_of(const std::string& option, const std::string& text) {
  if (text.empty()) return std::optional<std::int64_t>();
  if (const auto span = parse_duration_ms(text)) return std::optional<std::int64_t>(now_ms() - *span);
  std::int64_t at = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), at);
  if (error == std::errc{} && rest == text.data() + text.size() && text.size() >= 12) return std::optional(at);
  return Error{ErrorKind::invalid_params,
               option + ": a span before now such as 30m, 8h or 7d, or milliseconds since 1970, not `" + text + "`"};
}

Result<AuditFilter> filter_of(const AuditOptions& options) {
  const auto since = moment_of("--since", options.since);
  if (!since) return since.error();
  const auto until = moment_of("--until", options.until);
  if (!until) return until.error();
  return AuditFilter{*since, *until, options.agent, options.kind, options.file, options.review};
}

std::int64_t seq_of(const json::object& entry) {
  const auto* seq = entry.if_contains("seq");
  return seq != nullptr && seq->is_int64() ? seq->get_int64() : 0;
}

/// A line of JSON each, since there is no end to put a bracket at. Ends when nobody reads, or by a signal.
int follow(const AuditOptions& options, const AuditFilter& filter, const Style& style, AuditFollower follower,
           std::int64_t shown) {
  while (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    for (const auto& entry : follower.read_new()) {
      if (!filter.wants(entry) || seq_of(entry) <= shown) continue;
      if (options.output.as_json()) {
        put_json(entry);
      } else {
        print_entry(entry, style);
      }
    }
    std::this_thread::sleep_for(kFollowSpan);
  }
  return kOk;
}

int run_show(const AuditOptions& options) {
  const auto log = open_log();
  if (!log) return fail(log.error().message);
  const auto filter = filter_of(options);
  if (!filter) return refuse_usage("audit show: " + filter.error().message);
  AuditFollower follower(log->file());
  const auto entries = log->tail(options.lines, *filter);
  if (options.follow) {
    const auto style = options.output.style();
    for (const auto& entry : entries) options.output.as_json() ? put_json(entry) : print_entry(entry, style);
    return follow(options, *filter, style, std::move(follower), entries.empty() ? 0 : seq_of(entries.back()));
  }
  if (options.output.as_json()) {
    json::array all;
    for (const auto& entry : entries) all.emplace_back(entry);
    put_json({{"entries", std::move(all)}, {"path", json_text(log->file())}});
    return kOk;
  }
  const auto style = options.output.style();
  for (const auto& entry : entries) print_entry(entry, style);
  if (entries.empty())
    put((log->files().empty() ? "the log is empty: " : "no entry of that kind: ") + log->file() + "\n");
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
              {"note", json_text(verified.note)},
              {"path", json_text(log->file())}});
  } else if (verified.ok) {
    put(style.paint(Tone::green, "intact") + ": " + std::to_string(verified.entries) +
        (verified.entries == 1 ? " entry" : " entries") + " in one chain\n");
    if (!verified.note.empty()) put(style.paint(Tone::yellow, "note: ") + engine::one_line(verified.note, 400) + "\n");
    if (verified.entries > 0) put(style.dim("anchor  ") + verified.last_hash + "\n");
    if (options.anchor.empty() && verified.entries > 0) {
      put(style.dim("Keep the anchor elsewhere: only with --anchor is a rewrite of the whole file seen.") + "\n");
    }
  } else {
    put(style.paint(Tone::alarm, "broken") + ": " + engine::one_line(verified.problem, 400) + "\n");
  }
  return verified.ok ? kOk : kFlagged;
}

}  // namespace

void add_audit(CommandTree& tree) {
  auto* group = tree.root.add_subcommand("audit", "The record of decisions, executions and changes: show, verify");
  group->require_subcommand(1);
  auto shown = std::make_shared<AuditOptions>();
  auto* show = group->add_subcommand("show", "The newest entries, oldest first");
  add_count(*show, "-n,--lines", shown->lines, 1'000'000, "how many (20)");
  add_text(*show, "--since", shown->since, "DURATION", "not older than 30m, 8h, 7d, …");
  add_text(*show, "--until", shown->until, "DURATION", "older than that");
  add_text(*show, "--agent", shown->agent, "NAME", "of this agent, by its name or id");
  add_text(*show, "--kind", shown->kind, "EVENT",
           "decision, answer, grant, execute, review, approve, apply, policy, …");
  add_text(*show, "--file", shown->file, "FILE", "about this file");
  add_text(*show, "--review", shown->review, "ID", "about this review");
  show->add_flag("-f,--follow", shown->follow, "go on with what is added, one line each");
  add_output_options(*show, shown->output);
  tree.commands.push_back({"audit show", show, [shown] { return run_show(*shown); }});

  auto verified = std::make_shared<AuditOptions>();
  auto* verify = group->add_subcommand("verify", "Check order and integrity of the whole log");
  add_text(*verify, "--anchor", verified->anchor, "HASH", "a hash kept elsewhere that must occur in the chain");
  add_output_options(*verify, verified->output);
  tree.commands.push_back({"audit verify", verify, [verified] { return run_verify(*verified); }});
}

}  // namespace escrow::server::cli

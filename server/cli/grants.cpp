#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <ctime>
#include <memory>
#include <optional>

#include "engine/grant.h"
#include "engine/redact.h"
#include "server/cli/command.h"
#include "server/cli/consent.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/times.h"
#include "server/cli/workplace.h"
#include "server/clock.h"
#include "server/json_out.h"
#include "server/store/audit_log.h"
#include "server/store/grant_store.h"
#include "server/store/private_directory.h"
#include "server/units.h"
#include "server/workspace/repository.h"

// escrow grants: the remembered decisions. Allowing loosens and asks the person; denying, revoking and clearing tighten
// (a cleared deny loosens, which is why clear wants --confirm).

namespace escrow::server::cli {
namespace {

namespace json = boost::json;
using engine::Grant;

struct AddOptions {
  OutputOptions output;
  std::string tool, match, scope = "workspace", autonomy = "medium", expires, reason;
  bool yes = false;
};

struct RemoveOptions {
  OutputOptions output;
  std::vector<std::string> ids;
  bool confirm = false;
};

/// The stores that a decision is written to.
struct Stores {
  Workplace place;
  GrantStore grants;
  AuditLog audit;
};

Result<std::unique_ptr<Stores>> open_stores() {
  auto place = find_workplace();
  if (!place) return place.error();
  if (auto made = make_private_directory(place->places.state_dir); !made) return made.error();
  GrantStore grants(place->places.grants_file);
  AuditLog audit(place->places.state_dir + "/audit.jsonl");
  return std::make_unique<Stores>(Stores{std::move(*place), std::move(grants), std::move(audit)});
}

json::object json_grant(const Grant& grant) {
  json::object out;
  out["id"] = json_text(grant.id);
  out["effect"] = engine::name_of(grant.effect);
  out["tool"] = json_text(grant.tool);
  out["match"] = json_text(grant.match);
  out["scope"] = engine::name_of(grant.scope);
  if (!grant.workspace.empty()) out["workspace"] = json_text(grant.workspace);
  out["autonomy"] = engine::name_of(grant.max_autonomy);
  out["createdAt"] = grant.created_ms;
  if (grant.expires_ms) out["expiresAt"] = *grant.expires_ms;
  out["reason"] = json_text(grant.reason);
  if (!grant.by.empty()) out["by"] = json_text(grant.by);
  return out;
}

std::string matched(const Grant& grant) {
  return grant.tool + (grant.match.empty() ? " (all of it)" : " `" + engine::one_line(grant.match) + "`");
}

std::string where(const Grant& grant) {
  if (grant.scope != engine::Scope::workspace) return "everywhere, for you";
  // The key is the common git directory, so that worktrees share; people know the directory around it.
  constexpr std::string_view kGit = "/.git";
  const std::string_view key = grant.workspace;
  return "in " + engine::one_line(key.ends_with(kGit) ? key.substr(0, key.size() - kGit.size()) : key, 4096);
}

std::string until(const Grant& grant) {
  return grant.expires_ms ? "until " + local_time(*grant.expires_ms) : std::string("no expiry");
}

void print_grant(const Grant& grant, const Style& style) {
  const bool allow = grant.effect == engine::GrantEffect::allow;
  put(style.bold(grant.id) + "  " + style.paint(allow ? Tone::green : Tone::alarm, allow ? "allow" : "deny ") + "  " +
      matched(grant) + "\n");
  put(style.dim("    " + where(grant) + "; autonomy up to " + std::string(engine::name_of(grant.max_autonomy)) + "; " +
                until(grant) + (grant.reason.empty() ? "" : "; " + engine::one_line(grant.reason))) +
      "\n");
}

int run_list(const OutputOptions& output) {
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  GrantStore store(place->places.grants_file);
  const auto& grants = store.current(now_ms());
  if (output.as_json()) {
    json::array all;
    for (const auto& grant : grants) all.emplace_back(json_grant(grant));
    put_json({{"grants", std::move(all)}, {"path", json_text(store.file())}, {"notes", json_texts(store.notes())}});
    return kOk;
  }
  const auto style = output.style();
  for (const auto& grant : grants) print_grant(grant, style);
  if (grants.empty()) put("nothing is remembered\n");
  for (const auto& note : store.notes()) put(style.paint(Tone::yellow, "note: ") + engine::one_line(note) + "\n");
  return kOk;
}

Result<Grant> grant_of(const AddOptions& options, engine::GrantEffect effect, const Workplace& place) {
  Grant grant;
  grant.effect = effect;
  grant.tool = options.tool;
  grant.match = options.match;
  grant.scope = engine::parse_enum<engine::Scope>(options.scope).value_or(engine::Scope::workspace);
  grant.max_autonomy = engine::parse_enum<engine::Autonomy>(options.autonomy).value_or(engine::Autonomy::low);
  grant.created_ms = now_ms();
  grant.reason = engine::redact(options.reason);
  grant.by = "person, terminal";
  if (grant.scope == engine::Scope::workspace) grant.workspace = workspace_key(place.root);
  if (!options.expires.empty()) {
    const auto span = parse_duration_ms(options.expires).value_or(0);
    if (span <= 0) {
      return Error{ErrorKind::invalid_params,
                   "--expires: a time such as 30m, 8h or 7d, not \"" + options.expires + "\""};
    }
    grant.expires_ms = grant.created_ms + span;
  }
  if (auto valid = engine::validate_grant(grant); !valid) {
    return Error{ErrorKind::invalid_params, valid.error().message};
  }
  return grant;
}

Result<void> ask_if_it_loosens(const Grant& grant, const AddOptions& options) {
  if (grant.effect == engine::GrantEffect::deny) return {};
  const auto question = "Allow " + matched(grant) + "\n  " + where(grant) + "; autonomy up to " +
                        std::string(engine::name_of(grant.max_autonomy)) + "; " + until(grant) + "?";
  return confirm(question, options.yes ? AnswerWith::yes_flag : AnswerWith::question);
}

/// A misspelt tool is a grant that never counts; agents name their tools as they like, so it is only said.
std::string note_about_tool(const std::string& tool) {
  static constexpr std::string_view kTools[] = {"shell", "exec", "file", "network", "mcp"};
  if (std::find(std::begin(kTools), std::end(kTools), tool) != std::end(kTools)) return {};
  return "`" + tool + "` is none of shell, file, network and mcp: it holds for an agent's own tool of that name";
}

int run_add(const AddOptions& options, engine::GrantEffect effect) {
  const auto stores = open_stores();
  if (!stores) return fail(stores.error().message);
  const auto grant = grant_of(options, effect, (*stores)->place);
  if (!grant) return refuse_usage("grants: " + grant.error().message);
  if (auto agreed = ask_if_it_loosens(*grant, options); !agreed) return fail(agreed.error().message);
  const auto added = (*stores)->grants.add(*grant);
  if (!added) return fail(added.error().message);
  json::object entry = json_grant(*added);
  entry["match"] = json_text(engine::redact(added->match));
  if (auto kept = (*stores)->audit.append("grant", entry); !kept) return fail(kept.error().message);
  if (options.output.as_json()) {
    put_json(json_grant(*added));
  } else {
    print_grant(*added, options.output.style());
    if (const auto note = note_about_tool(added->tool); !note.empty())
      put(options.output.style().paint(Tone::yellow, "note: ") + note + "\n");
  }
  return kOk;
}

int run_revoke(const RemoveOptions& options) {
  const auto stores = open_stores();
  if (!stores) return fail(stores.error().message);
  json::array gone;
  json::array unknown;
  for (const auto& id : options.ids) {
    const auto revoked = (*stores)->grants.revoke(id);
    if (!revoked) return fail(revoked.error().message);
    (*revoked ? gone : unknown).emplace_back(json_text(id));
    if (!*revoked) continue;
    auto kept = (*stores)->audit.append("grant.revoke", {{"id", json_text(id)}, {"by", "terminal"}});
    if (!kept) return fail(kept.error().message);
  }
  const bool all = unknown.empty();
  if (options.output.as_json()) {
    put_json({{"revoked", std::move(gone)}, {"unknown", std::move(unknown)}});
  } else {
    put("revoked " + counted(gone.size(), "grant") + "\n");
    if (!all) put("no grant of that id: " + json::serialize(unknown) + "; see escrow grants list\n");
  }
  return all ? kOk : kFlagged;
}

int run_clear(const RemoveOptions& options) {
  if (!options.confirm) return refuse_usage("grants clear: forgets every allow and every deny; say so with --confirm");
  const auto stores = open_stores();
  if (!stores) return fail(stores.error().message);
  const auto count = (*stores)->grants.revoke_all();
  if (!count) return fail(count.error().message);
  auto kept = (*stores)->audit.append("grant.revokeAll", {{"count", *count}, {"by", "terminal"}});
  if (!kept) return fail(kept.error().message);
  if (options.output.as_json()) {
    put_json({{"revoked", *count}});
  } else {
    put("forgot " + counted(*count, "grant") + "\n");
  }
  return kOk;
}

void add_adder(CommandTree& tree, CLI::App& group, engine::GrantEffect effect) {
  const bool allow = effect == engine::GrantEffect::allow;
  auto options = std::make_shared<AddOptions>();
  if (!allow) options->autonomy = "high";
  auto* app = group.add_subcommand(allow ? "allow" : "deny",
                                   allow ? "Remember an allow (asks you on the terminal)" : "Remember a deny");
  add_text(*app, "tool", options->tool, "TOOL", "shell, file, network, mcp, or an agent's own tool")->required();
  add_text(*app, "--match", options->match, "PATTERN",
           "leading words (`npm install`), a path glob, or host[:port]; a deny without it is for the whole tool");
  add_choice(*app, "--scope", options->scope, {"workspace", "user"}, "where it holds (workspace)");
  add_choice(*app, "--autonomy", options->autonomy, {"low", "medium", "high"},
             "for requests of at most this autonomy: medium does not answer for high (" + options->autonomy + ")");
  add_text(*app, "--expires", options->expires, "DURATION", "forget it after 30m, 8h, 7d, … (never)");
  add_text(*app, "--reason", options->reason, "TEXT", "why; kept with it, secrets redacted");
  if (allow) app->add_flag("--yes", options->yes, "do not ask; only with ESCROW_GRANTS_PATH or ESCROW_STATE_DIR set");
  add_output_options(*app, options->output);
  tree.commands.push_back(
      {allow ? "grants allow" : "grants deny", app, [options, effect] { return run_add(*options, effect); }});
}

}  // namespace

void add_grants(CommandTree& tree) {
  auto* group = tree.root.add_subcommand("grants", "Remembered decisions: list, allow, deny, revoke, clear");
  group->require_subcommand(1);
  auto output = std::make_shared<OutputOptions>();
  auto* list = group->add_subcommand("list", "What is remembered");
  add_output_options(*list, *output);
  tree.commands.push_back({"grants list", list, [output] { return run_list(*output); }});

  add_adder(tree, *group, engine::GrantEffect::allow);
  add_adder(tree, *group, engine::GrantEffect::deny);

  auto revoked = std::make_shared<RemoveOptions>();
  auto* revoke = group->add_subcommand("revoke", "Forget some");
  revoke->add_option("ids", revoked->ids, "as grants list shows them")->required()->option_text("ID");
  add_output_options(*revoke, revoked->output);
  tree.commands.push_back({"grants revoke", revoke, [revoked] { return run_revoke(*revoked); }});

  auto cleared = std::make_shared<RemoveOptions>();
  auto* clear = group->add_subcommand("clear", "Forget all, allows and denies alike");
  clear->add_flag("--confirm", cleared->confirm, "yes, all of them");
  add_output_options(*clear, cleared->output);
  tree.commands.push_back({"grants clear", clear, [cleared] { return run_clear(*cleared); }});
}

}  // namespace escrow::server::cli

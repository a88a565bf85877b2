#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <memory>

#include "engine/redact.h"
#include "server/cli/consent.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/policy_commands.h"
#include "server/cli/workplace.h"
#include "server/json_out.h"
#include "server/store/audit_log.h"
#include "server/store/config.h"
#include "server/store/policy_ratchet.h"
#include "server/store/private_directory.h"

// escrow policy accept: the person lets a workspace's policy become weaker than it was. Loosens, so it asks.

namespace escrow::server::cli {
namespace {

struct AcceptOptions {
  OutputOptions output;
  bool yes = false;
};

Result<void> accept_file(const Workplace& place, const std::string& text) {
  if (auto made = make_private_directory(place.places.state_dir); !made) return made;
  if (auto kept = remember_workspace_policy(place.places, place.root, text); !kept) return kept;
  AuditLog audit(place.places.state_dir + "/audit.jsonl");
  return audit.append("policy.accept", {{"workspace", json_text(place.root)}, {"by", "person, terminal"}});
}

int run_accept(const AcceptOptions& options) {
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  const auto file = workspace_policy_file(place->root);
  const auto text = read_policy_text(file, engine::LayerKind::workspace);
  if (!text) return fail(text.error().message);
  const auto question = (*text ? "Take " + file + " as it is now"
                               : "Forget the policy that " + engine::one_line(place->root, 4096) + " had") +
                        ", even where it is weaker than before?";
  auto agreed = confirm(question, options.yes ? AnswerWith::yes_flag : AnswerWith::question);
  if (!agreed) return fail(agreed.error().message);
  if (auto accepted = accept_file(*place, text->value_or("")); !accepted) return fail(accepted.error().message);
  if (options.output.as_json()) {
    put_json({{"accepted", true}, {"file", json_text(file)}, {"exists", text->has_value()}});
  } else {
    put(text->has_value() ? "accepted " + file + "\n" : "forgotten; there is no " + file + "\n");
  }
  return kOk;
}

}  // namespace

void add_policy_accept(CommandTree& tree, CLI::App& group) {
  auto options = std::make_shared<AcceptOptions>();
  auto* app = group.add_subcommand("accept", "Let this workspace's policy be weaker than it was (asks you)");
  app->add_flag("--yes", options->yes, "do not ask; only with ESCROW_GRANTS_PATH or ESCROW_STATE_DIR set");
  add_output_options(*app, options->output);
  tree.commands.push_back({"policy accept", app, [options] { return run_accept(*options); }});
}

}  // namespace escrow::server::cli

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/object.hpp>
#include <memory>

#include "engine/redact.h"
#include "sandbox/probe.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/policy_commands.h"
#include "server/cli/workplace.h"
#include "server/install_paths.h"
#include "server/json_out.h"
#include "server/policy_view.h"

// escrow policy show: every value in force, and where it came from.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

void print_json(const Workplace& place, const sandbox::Probe& probe) {
  json::object out;
  out["policy"] = json_policy(place.policy);
  out["origins"] = json_origins(place.policy);
  out["backend"] = probe.available ? "bubblewrap" : "none";
  out["available"] = probe.available;
  out["message"] = json_text(probe.message);
  out["restrictions"] = json_restrictions(place.policy);
  out["notes"] = json_texts(place.policy.notes);
  out["grantsPath"] = json_text(place.places.grants_file);
  put_json(out);
}

void print_text(const Workplace& place, const sandbox::Probe& probe, const Style& style) {
  const auto rows = policy_rows(place.policy);
  std::size_t keys = 0;
  for (const auto& row : rows) keys = std::max(keys, columns(row.key));
  for (const auto& row : rows) {
    const bool built_in = row.origin == "built-in";
    put(style.bold(padded(row.key, keys)) + "  " + engine::one_line(row.value) +
        (built_in ? "" : "  " + style.dim("(" + row.origin + ")")) + "\n");
  }
  for (const auto& note : place.policy.notes) put(style.paint(Tone::yellow, "note: ") + engine::one_line(note) + "\n");
  put("\n" + style.bold("sandbox") + "  " + (probe.available ? "available" : "not available: commands are refused") +
      (probe.message.empty() ? "" : " (" + engine::one_line(probe.message) + ")") + "\n");
  put(style.bold("grants") + "   " + place.places.grants_file + "\n");
  put(style.dim("Values without a place are built in.") + "\n");
}

int run_show(const OutputOptions& output) {
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  const auto paths = find_install_paths();
  if (!paths) return fail(paths.error().message);
  const auto& probe = sandbox::probe_host(paths->libexec_dir);
  if (output.as_json()) {
    print_json(*place, probe);
  } else {
    print_text(*place, probe, output.style());
  }
  return kOk;
}

}  // namespace

void add_policy_show(CommandTree& tree, CLI::App& group) {
  auto output = std::make_shared<OutputOptions>();
  auto* app = group.add_subcommand("show", "Every value in force, and where it came from");
  add_output_options(*app, *output);
  tree.commands.push_back({"policy show", app, [output] { return run_show(*output); }});
}

}  // namespace escrow::server::cli

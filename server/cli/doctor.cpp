#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "engine/redact.h"
#include "sandbox/host_advice.h"
#include "sandbox/probe.h"
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/install_paths.h"
#include "server/json_out.h"
#include "server/store/config.h"
#include "server/store/places.h"

// escrow doctor: what this host can enforce, what is missing, and the command that mends it. It runs a real minimal
// sandbox. Exit 1 if commands would be refused here, or the policy cannot be read.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;
using sandbox::Probe;
using sandbox::ProbeItem;

/// Trouble outside the cage that a person would otherwise meet later.
struct Surroundings {
  InstallPaths install;
  std::optional<Places> places;
  ProbeItem policy{"policy", false, {}, {}};
};

Surroundings look_around(const InstallPaths& install) {
  Surroundings out{install, {}, {"policy", false, {}, {}}};
  const auto root = workspace_root_around(".");
  if (!root) {
    out.policy.detail = root.error().message;
    return out;
  }
  const auto places = find_places(process_environment(), Overrides::honour, {*root});
  if (!places) {
    out.policy.detail = places.error().message;
    return out;
  }
  out.places = *places;
  const auto policy = load_policy(*places, {*root});
  out.policy.available = policy.has_value();
  out.policy.detail = policy ? "mode " + std::string(engine::name_of(policy->mode)) : policy.error().message;
  if (!policy) out.policy.fix = "escrow policy check";
  return out;
}

json::object json_item(const ProbeItem& item) {
  return {{"name", json_text(item.name)},
          {"available", item.available},
          {"detail", json_text(item.detail)},
          {"fix", json_text(item.fix)}};
}

/// All that is told, in one list: the sandbox, the host around it, the policy.
std::vector<ProbeItem> all_items(const Probe& probe, const Surroundings& around) {
  std::vector<ProbeItem> items = probe.items;
  for (ProbeItem& item : sandbox::host_advice(probe, around.install.libexec_dir)) items.push_back(std::move(item));
  items.push_back(around.policy);
  return items;
}

void print_json(const Probe& probe, const Surroundings& around) {
  json::object out;
  out["version"] = ESCROW_VERSION;
  out["available"] = probe.available;
  out["reason"] = sandbox::name_of(probe.reason);
  out["message"] = json_text(probe.message);
  json::array items;
  for (const auto& item : all_items(probe, around)) items.emplace_back(json_item(item));
  out["items"] = std::move(items);
  json::object paths{{"program", json_text(around.install.program)},
                     {"libexec", json_text(around.install.libexec_dir)}};
  if (around.places) {
    paths["config"] = json_text(around.places->config_dir);
    paths["state"] = json_text(around.places->state_dir);
    paths["runtime"] = json_text(around.places->runtime_dir);
    paths["grants"] = json_text(around.places->grants_file);
  }
  out["paths"] = std::move(paths);
  put_json(out);
}

void print_item(const ProbeItem& item, std::size_t width, const Style& style) {
  // What is absent, cannot be mended and stops nothing is no alarm.
  const auto mark = item.available     ? style.paint(Tone::green, "ok     ")
                    : item.fix.empty() ? style.dim("absent ")
                                       : style.paint(Tone::red, "missing");
  put("  " + mark + "  " + padded(item.name, width) + "  " + engine::one_line(item.detail, 400) + "\n");
  if (item.fix.empty()) return;
  put("           " + std::string(width, ' ') + (item.available ? "better: " : "mend: ") + style.bold(item.fix) + "\n");
}

void print_text(const Probe& probe, const Surroundings& around, const Style& style) {
  const auto items = all_items(probe, around);
  std::size_t width = 0;
  for (const auto& item : items) width = std::max(width, columns(item.name));
  if (probe.available && !around.policy.available) {
    put(style.paint(Tone::red, "The sandbox works, but the policy cannot be used: commands are refused until it can.") +
        "\n\n");
  } else if (probe.available) {
    put(style.paint(Tone::green, "Commands run in a sandbox here.") + "\n\n");
  } else {
    put(style.paint(Tone::red, "No sandbox here: commands are refused, never run on the host.") + "\n");
    put(engine::one_line(probe.message, 400) + "\n\n");
  }
  for (const auto& item : items) print_item(item, width, style);
  put("\n");
  if (around.places) {
    put(style.dim("  policy   ") + user_policy_file(*around.places) + "\n");
    put(style.dim("  state    ") + around.places->state_dir + "\n");
    put(style.dim("  sockets  ") + around.places->runtime_dir + "\n");
  }
  put(style.dim("  parts    ") + around.install.libexec_dir + "\n");
}

int run_doctor(const OutputOptions& output) {
  const auto install = find_install_paths();
  if (!install) return fail(install.error().message);
  const auto& probe = sandbox::probe_host(install->libexec_dir);
  const auto around = look_around(*install);
  if (output.as_json()) {
    print_json(probe, around);
  } else {
    print_text(probe, around, output.style());
  }
  return probe.available && around.policy.available ? kOk : kFlagged;
}

}  // namespace

void add_doctor(CommandTree& tree) {
  auto output = std::make_shared<OutputOptions>();
  auto* app = tree.root.add_subcommand("doctor", "What this host can enforce, what is missing, and how to mend it");
  add_output_options(*app, *output);
  tree.commands.push_back({"doctor", app, [output] { return run_doctor(*output); }});
}

}  // namespace escrow::server::cli

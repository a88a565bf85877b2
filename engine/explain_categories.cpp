#include "engine/explain.h"

namespace escrow::engine {
namespace {

constexpr RuleText kCategoryTexts[] = {
    {"read-only", "Only looks", "Reads the workspace or prints; nothing lasting happens."},
    {"workspace-write", "Changes the workspace",
     "Creates or changes files or local git state in the workspace; the sandbox's copy can be thrown away."},
    {"build-test", "Builds or tests", "Runs the project's own build, tests or linters."},
    {"destructive", "Deletes or overwrites",
     "Deletes, truncates, overwrites or rewrites history, here or on a remote."},
    {"network", "Talks to another host",
     "Contacts a host that is not this machine. The sandbox has no network unless a host is granted."},
    {"exfiltration", "Sends local data out", "Data from this machine leaves for another host."},
    {"package-install", "Installs packages", "Fetches third-party packages or tools, whose install code runs here."},
    {"remote-code", "Runs code from the network",
     "Runs what it received from the network, or hands control to the network."},
    {"inline-code", "Runs code that cannot be judged",
     "Program text in arguments or input, a tool's own way to run commands, or a script that was not seen."},
    {"obfuscation", "Hides what runs",
     "The text hides which command runs: split words, escapes, variables, encodings or look-alike letters."},
    {"privilege", "Gains rights", "Root, capabilities, namespaces, privileged containers or mounts."},
    {"persistence", "Outlives the session",
     "Leaves something that runs later: a timer, a service, a hook, a start-up file or an authorised key."},
    {"credential-access", "Reads secrets",
     "Reads keys, tokens, secret files, other processes' environment or a metadata service."},
    {"path-escape", "Leaves the workspace", "Reads or writes outside the workspace."},
    {"env-hijack", "Makes another program run",
     "Loader, path, start-up, editor, pager or git settings that make something else run."},
    {"system", "Touches the machine", "Processes, power, kernel, services or resources of the whole machine."},
    {"guard-tamper", "Weakens the guard",
     "Disables or weakens checks, hooks, the audit trail, permissions or the firewall."},
};

}  // namespace

std::span<const RuleText> command_category_texts() {
  return kCategoryTexts;
}

}  // namespace escrow::engine

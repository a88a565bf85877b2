#include "engine/diff_rule_table.h"

#include <algorithm>
#include <array>

namespace escrow::engine {
namespace {

constexpr std::array<DiffRule, 41> kRules{{
    {"agent-config", 45, Level::medium, "CWE-829", "changes what a coding agent is told or allowed to do"},
    {"auth-check-removed", 78, Level::high, "CWE-306 CWE-862 CWE-287", "an access check is gone or always passes"},
    {"autorun-hook", 50, Level::medium, "CWE-829", "runs without being asked"},
    {"binary-file", 35, Level::medium, "CWE-506", "a binary file that no one can review"},
    {"ci-check-disabled", 45, Level::medium, "CWE-693", "an automated check no longer stops anything"},
    {"container-privilege", 50, Level::medium, "CWE-250", "the container gets more rights over its host"},
    {"data-exfiltration", 85, Level::critical, "CWE-200 CWE-201", "collects private data and sends it out"},
    {"dependency-added", 35, Level::medium, "CWE-1104", "a new direct dependency"},
    {"dependency-suspicious", 80, Level::high, "CWE-494 CWE-829", "a dependency from an unusual source"},
    {"destructive-op", 50, Level::medium, "CWE-732", "deletes or overwrites what cannot be brought back"},
    {"dynamic-eval", 60, Level::medium, "CWE-95", "evaluates text as code"},
    {"hidden-unicode", 80, Level::high, "CWE-1007", "characters that hide what the text really says"},
    {"infra-exposure", 75, Level::high, "CWE-284 CWE-732", "opens infrastructure to the world"},
    {"install-script", 75, Level::high, "CWE-506 CWE-829", "code that runs when the package is installed or built"},
    {"large-change", 5, Level::low, "", "a large change is harder to review", true},
    {"low-confidence", 0, Level::low, "", "the agent itself is unsure of this change", true},
    {"memory-unsafe", 40, Level::medium, "CWE-120 CWE-134 CWE-119", "memory access without a bound"},
    {"mode-executable", 15, Level::low, "", "the file becomes executable"},
    {"network-call", 35, Level::medium, "CWE-918", "a new outbound connection"},
    {"obfuscated-payload", 85, Level::critical, "CWE-506", "encoded text that is decoded and executed"},
    {"path-traversal", 45, Level::medium, "CWE-22", "a path from outside is used without containment"},
    {"prompt-injection", 82, Level::high, "CWE-1427", "text that gives orders to an AI agent"},
    {"remote-script", 85, Level::critical, "CWE-494", "downloads text and executes it"},
    {"reverse-shell", 95, Level::critical, "CWE-506 CWE-912", "hands a shell to the network"},
    {"secret-file", 45, Level::medium, "CWE-538", "a file that usually holds secrets"},
    {"secret-literal", 85, Level::critical, "CWE-798 CWE-321", "a secret in plain text"},
    {"sensitive-path", 12, Level::low, "", "touches authentication, cryptography, payment, migrations or CI", true},
    {"shell-exec", 50, Level::medium, "CWE-78", "starts a process through a shell or from variable text"},
    {"sql-injection", 60, Level::medium, "CWE-89", "SQL text built from values"},
    {"submodule-change", 40, Level::medium, "CWE-829", "a submodule now points elsewhere"},
    {"symlink-escape", 80, Level::high, "CWE-59 CWE-61", "a symbolic link that leaves the repository"},
    {"test-weakened", 35, Level::medium, "CWE-1164", "a test checks less than before"},
    {"tls-verify-off", 75, Level::high, "CWE-295", "certificates or host keys are no longer verified"},
    {"unpinned-reference", 35, Level::medium, "CWE-829 CWE-1104", "refers to something that can change by itself"},
    {"unsafe-deserialization", 60, Level::medium, "CWE-502", "deserializes in a way that can run code"},
    {"validation-removed", 50, Level::medium, "CWE-20 CWE-352 CWE-614 CWE-770", "a check on input or output is gone"},
    {"weak-crypto", 45, Level::medium, "CWE-327 CWE-328 CWE-338", "cryptography that does not protect"},
    {"workflow-injection", 78, Level::high, "CWE-94 CWE-78", "text of an outsider becomes part of a CI script"},
    {"workflow-permissions", 40, Level::medium, "CWE-732", "the CI job gets a wider token"},
    {"workflow-trigger", 80, Level::high, "CWE-829", "a privileged CI trigger runs a fork's code"},
    {"xss-sink", 45, Level::medium, "CWE-79", "raw HTML from a value"},
}};

constexpr bool by_id(const DiffRule& rule, std::string_view id) {
  return rule.id < id;
}

}  // namespace

std::span<const DiffRule> diff_rules() {
  return kRules;
}

const DiffRule* find_diff_rule(std::string_view id) {
  const auto* const found = std::lower_bound(kRules.begin(), kRules.end(), id, by_id);
  return found != kRules.end() && found->id == id ? &*found : nullptr;
}

Level severity_of(const DiffRule& rule, int weight) {
  if (weight <= 30) return Level::low;
  if (weight <= 70) return std::min(rule.severity, Level::medium);
  constexpr int kBeyondDoubt = 90;
  return weight >= kBeyondDoubt ? Level::critical : std::max(rule.severity, Level::high);
}

}  // namespace escrow::engine

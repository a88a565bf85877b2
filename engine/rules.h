#pragma once

#include <span>

#include "engine/change_view.h"
#include "engine/findings.h"
#include "engine/line_pattern.h"

/// The rules of the diff vocabulary, by family. A family is a table of line patterns, or a function that looks at a
/// whole file (or change), or both. To add a rule: its row in diff_rule_table, its pattern or function here, its text
/// in explain_diff_rules, and a test.
namespace escrow::engine {

std::span<const LinePattern> injection_patterns();  ///< eval, shell, deserialization
std::span<const LinePattern> sql_patterns();        ///< SQL text
std::span<const LinePattern> web_patterns();        ///< HTML sinks, file paths
std::span<const LinePattern> crypto_patterns();     ///< TLS verification, ciphers, hashes, randomness
std::span<const LinePattern> memory_patterns();
std::span<const LinePattern> network_patterns();
std::span<const LinePattern> destructive_patterns();
std::span<const LinePattern> malice_patterns();     ///< remote scripts, reverse shells, payloads, exfiltration
std::span<const LinePattern> infra_patterns();      ///< containers, cloud
std::span<const LinePattern> loosening_patterns();  ///< added lines that switch a check off
std::span<const LinePattern> autorun_patterns();
std::span<const LinePattern> instruction_patterns();  ///< orders to an AI agent

void find_line_patterns(const FileView& file, Findings& findings);
void find_secrets_in_file(const FileView& file, Findings& findings);
void find_removed_protection(const FileView& file, Findings& findings);
void find_weakened_tests(const ChangeView& change, Findings& findings);
void find_workflow_risks(const FileView& file, Findings& findings);
void find_disabled_checks(const FileView& file, Findings& findings);
void find_dependency_risks(const FileView& file, Findings& findings);
void find_lockfile_risks(const FileView& file, Findings& findings);
void find_multi_line_malice(const FileView& file, Findings& findings);
void find_chains(const ChangeView& change, Findings& findings);  ///< behaviour spread over several files
void find_infra_risks(const FileView& file, Findings& findings);
void find_hidden_unicode(const FileView& file, Findings& findings);
void find_agent_config(const FileView& file, Findings& findings);
void find_autorun_files(const FileView& file, Findings& findings);
void find_file_risks(const FileView& file, Findings& findings);  ///< links, modes, binaries, submodules
void find_context(const ChangeView& change, Findings& findings);

}  // namespace escrow::engine

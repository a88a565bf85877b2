#include "engine/explain.h"

namespace escrow::engine {
namespace {

constexpr RuleText kDiffRuleTexts[] = {
    {"secret-literal", "A secret in plain text",
     "Whoever can read the repository can use it, and it stays in the history after it is deleted. Read it from the "
     "environment or a secret store, and revoke this one."},
    {"secret-file", "A file that usually holds secrets",
     "Files of this name hold credentials. Keep them out of the repository, and commit an example with empty values "
     "instead."},
    {"auth-check-removed", "An access check is gone",
     "A check of who may do this was deleted, turned around, made constant or can be got past with a fixed value. "
     "Whatever it protected is now open."},
    {"validation-removed", "A check on data is gone",
     "Escaping, a bound, a limit, forgery protection or a cookie flag was removed or loosened. Input that was refused "
     "before now gets through."},
    {"tls-verify-off", "Certificates are not verified",
     "Without verification anyone on the way can read and change the traffic. Trust the one certificate that is "
     "missing instead."},
    {"test-weakened", "A test checks less",
     "A test was skipped, deleted or lost assertions. Together with changed code this can hide that something broke."},
    {"ci-check-disabled", "A check no longer stops anything",
     "A step of the pipeline, a linter, a scanner or an approval was made optional or removed, so that later changes "
     "pass unseen."},
    {"workflow-trigger", "A privileged trigger with a fork's code",
     "This trigger runs with the repository's secrets. Code that an outsider sent would run with them too."},
    {"workflow-injection", "An outsider's text becomes script",
     "Titles, bodies and branch names are written by anyone. Placed into a script they run as part of it; pass them "
     "through an environment variable and quote it."},
    {"workflow-permissions", "A wider token for the job",
     "The job's token may do more than before. Grant each job only the scopes it needs."},
    {"unpinned-reference", "A reference that can change by itself",
     "A branch, `latest` or an open range points to something else tomorrow without a change here. Pin a version or a "
     "hash."},
    {"container-privilege", "More rights over the host",
     "Privileged mode, root, host namespaces, host paths or the container socket let what runs inside reach the "
     "machine around it."},
    {"infra-exposure", "Open to the world",
     "A network, a bucket, a database or a permission is opened to everyone, or encryption is switched off."},
    {"install-script", "Code that runs on install",
     "It runs on every machine that installs or builds the package, before anyone has looked at it."},
    {"dependency-added", "A new direct dependency",
     "Its code, and that of all it depends on, becomes part of this project. Check that it is the one you mean and "
     "that it is needed."},
    {"dependency-suspicious", "A dependency from an unusual source",
     "The package comes from a repository, an address or a registry of its own, or its name imitates a well-known "
     "one."},
    {"remote-script", "Downloaded text is executed",
     "Whoever controls that address, or the way to it, decides what runs. Download, verify a checksum, then run."},
    {"submodule-change", "A submodule points elsewhere",
     "The code that is checked out there is another one now, and no line of it shows in this change."},
    {"dynamic-eval", "Text is evaluated as code",
     "If any part of the text can be influenced from outside, so can what runs."},
    {"shell-exec", "A process through a shell",
     "The shell gives meaning to characters in the text. Pass a list of arguments to a fixed program instead."},
    {"unsafe-deserialization", "Deserialization that can run code",
     "This format can make the reader run code of the sender's choice. Use a format that holds only data."},
    {"sql-injection", "SQL text built from values",
     "A value can end the string it is put into and become part of the statement. Use placeholders."},
    {"xss-sink", "Raw HTML", "Text that reaches this place unescaped runs as script in the reader's browser."},
    {"path-traversal", "A path from outside",
     "`../` or an absolute path in the value leads out of the folder it is meant for. Resolve the path and check that "
     "it is inside."},
    {"network-call", "A new outbound connection",
     "The program now talks to a host it did not talk to before. Check what is sent and whether the answer is "
     "trusted."},
    {"weak-crypto", "Cryptography that does not protect",
     "The algorithm is broken, the key or the number of rounds too small, or the random numbers can be predicted."},
    {"memory-unsafe", "Memory access without a bound", "Input of the wrong length or form can overwrite memory."},
    {"reverse-shell", "A shell for the network",
     "It connects a command shell to a remote host, which gives that host control of this machine."},
    {"obfuscated-payload", "Hidden code", "Encoded text is decoded and run, so that a reader cannot see what it does."},
    {"data-exfiltration", "Private data is sent out",
     "The environment, keys or files are collected and sent to another host in the same change."},
    {"hidden-unicode", "Characters that hide the text",
     "Some characters turn text around, cannot be seen or look like others. What runs is not what the reader sees."},
    {"prompt-injection", "Orders to an AI agent",
     "This text tries to make an agent that reads it drop its instructions, hide something or send data."},
    {"agent-config", "What agents are told or allowed",
     "This file instructs coding agents or decides what they may do without asking."},
    {"autorun-hook", "Runs without being asked",
     "It runs on an ordinary act: a commit, an opened folder, a new shell, a boot."},
    {"destructive-op", "Deletes for good",
     "It deletes or overwrites data that version control cannot bring back, at a place that is worked out at run "
     "time."},
    {"symlink-escape", "A link out of the repository",
     "Whatever follows the link reads or writes files that are no part of the project."},
    {"binary-file", "A binary file", "Nobody can review its content, and it may be executed."},
    {"mode-executable", "Becomes executable", "The file can now be run as a program."},
    {"sensitive-path", "A sensitive place",
     "Authentication, cryptography, payments, migrations and pipelines deserve a second look. This alone decides "
     "nothing."},
    {"large-change", "A large change",
     "The more lines, the less is seen: 5, 10 or 15 points beyond 100, 400 and 1500 changed lines. Lockfiles and "
     "generated files do not count. This alone decides nothing."},
    {"low-confidence", "The agent is unsure",
     "The agent itself reported little confidence in this change, which adds up to 10 points to what else was found. "
     "This alone decides nothing."},
};

}  // namespace

std::span<const RuleText> diff_rule_texts() {
  return kDiffRuleTexts;
}

}  // namespace escrow::engine

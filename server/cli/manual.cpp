#include <CLI/CLI.hpp>
#include <string_view>

#include "server/cli/command.h"
#include "server/cli/help_model.h"
#include "server/cli/output.h"

// escrow man: the man page (man(7) macros), printed from the command definitions; what they don't hold stands below.

namespace escrow::server::cli {
namespace {

constexpr std::string_view kDescription = R"(.SH DESCRIPTION
Escrow holds what a coding agent wants to do until it is judged, and lets it happen somewhere it can do no harm.
Editors start
.B escrow lsp
beside their other language servers; the remaining commands do the same work from a terminal.
.PP
Commands of agents run in a sandbox: the workspace is copy-on-write, the network is off, secrets are absent. What they
changed comes back as a review. The sandbox is the security boundary; the score only decides what a person is asked.
)";

constexpr std::string_view kExit = R"(.SH EXIT STATUS
.TP
.B 0
An answer was given, whatever it is.
.TP
.B 1
.B \-\-fail\-on
was met; a policy file has problems; the log does not verify; a figure is worse than in the baseline
.RB ( evaluate );
no sandbox can be set up
.RB ( doctor ).
.TP
.B 2
The command line makes no sense.
.TP
.B 3
No answer could be given.
.PP
.B escrow exec
passes the command's own code through: 124 if it timed out, 125 if it did not run, 126 and 127 as in a shell,
128+n after signal n.
)";

constexpr std::string_view kFiles = R"(.SH FILES
.TP
.I $XDG_CONFIG_HOME/escrow/policy.yaml
The person's policy.
.TP
.I <workspace>/.escrow/policy.yaml
The workspace's policy. It can only tighten.
.TP
.I /etc/escrow/policy.yaml
The system's policy. It is always read, and holds over the others.
.TP
.I $XDG_STATE_HOME/escrow/
Remembered decisions, reviews and the audit log (mode 0700).
.SH ENVIRONMENT
.TP
.BR ESCROW_CONFIG_DIR ", " ESCROW_STATE_DIR ", " ESCROW_GRANTS_PATH
Other places for the files above. Refused if they lie in a workspace, are symbolic links, or are not yours alone
(mode 0700).
.TP
.B NO_COLOR
No colours.
.SH EXAMPLES
.nf
git diff | escrow score
escrow classify \-\- 'curl \-s https://example.org/install.sh | sh'
escrow policy explain \-\- 'terraform apply'
escrow doctor
.fi
)";

/// Dashes that may be copied into a shell, backslashes as themselves, no line that looks like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string option_heading(const OptionModel& option) {
  std::string out;
  for (const auto& name : option.names) {
    if (option.positional) break;
    out += (out.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  }
  if (!option.placeholder.empty()) out += (out.empty() ? "" : " ") + ("\\fI" + roff(option.placeholder) + "\\fR");
  return out + (option.repeatable ? " ..." : "");
}

std::string synopsis(const CommandModel& command, bool takes_words) {
  auto line = "\\fBescrow " + roff(name_of(command)) + "\\fR [\\fIoptions\\fR]";
  for (const auto& option : command.options) {
    if (option.positional && !takes_words) line += " [\\fI" + roff(option.placeholder) + "\\fR]";
  }
  return line + (takes_words ? " \\-\\- \\fICOMMAND\\fR" : "");
}

std::string command_section(const CommandModel& command, bool takes_words) {
  auto out = ".SS " + synopsis(command, takes_words) + "\n" + roff(command.description) + ".\n";
  for (const auto& option : command.options) {
    if (option.names.front() == "-h") continue;
    out += ".TP\n" + option_heading(option) + "\n" + roff(option.description) + ".\n";
  }
  return out;
}

bool takes_words(const CommandTree& tree, const std::string& name) {
  for (const auto& command : tree.commands) {
    if (command.name == name) return command.takes_words;
  }
  return false;
}

std::string manual(const CommandTree& tree) {
  std::string out = ".TH ESCROW 1 \"\" \"escrow " ESCROW_VERSION "\" \"User Commands\"\n";
  out += ".SH NAME\nescrow \\- hold what a coding agent wants to do until it is judged\n";
  out += ".SH SYNOPSIS\n\\fBescrow\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n";
  out += std::string(kDescription) + ".SH COMMANDS\n";
  for_each_command(model_of(tree.root), [&](const CommandModel& command) {
    if (command.commands.empty()) out += command_section(command, takes_words(tree, name_of(command)));
  });
  return out + std::string(kExit) + std::string(kFiles);
}

}  // namespace

void add_manual(CommandTree& tree) {
  auto* app = tree.root.add_subcommand("man", "Print the man page")->group("");
  tree.commands.push_back({"man", app, [&tree] {
                             put(manual(tree));
                             return kOk;
                           }});
}

}  // namespace escrow::server::cli

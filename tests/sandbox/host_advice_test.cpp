#include "sandbox/host_advice.h"

#include <algorithm>
#include <chrono>

#include "sandbox/program_output.h"
#include "tests/sandbox/cage_fixture.h"

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

TEST_CASE("versions are compared by number, part by part") {
  CHECK(is_older_version("0.8.0", "0.10.0"));
  CHECK(is_older_version("2.39.3", "2.39.4"));
  CHECK(is_older_version("2.39", "2.39.1"));
  CHECK_FALSE(is_older_version("2.39.5-0+deb12u2", "2.39.5"));
  CHECK_FALSE(is_older_version("10.0", "9.9.9"));
  CHECK_FALSE(is_older_version("99999999999999999999", "1"));
}

TEST_CASE("a release is named with what is known against it, each release line by its own fix") {
  const auto has = [](const char* program, const char* version, const char* id) {
    const auto found = advisories_for(program, version);
    return std::any_of(found.begin(), found.end(), [&](const std::string& text) { return text.starts_with(id); });
  };
  CHECK(has("bubblewrap", "0.4.0", "CVE-2020-5291"));
  CHECK_FALSE(has("bubblewrap", "0.8.0", "CVE-2020-5291"));
  CHECK(has("git", "2.39.3", "CVE-2024-32002"));
  CHECK_FALSE(has("git", "2.39.5", "CVE-2024-32002"));
  CHECK(has("git", "2.45.0", "CVE-2024-32002"));
  CHECK_FALSE(has("git", "2.46.0", "CVE-2024-32002"));
  CHECK(has("git", "2.39.5", "CVE-2025-48384"));
  CHECK_FALSE(has("git", "2.50.1", "CVE-2025-48384"));
  CHECK_FALSE(has("git", "3.0.0", "CVE-2025-48384"));
  CHECK(has("git", "2.20.1", "CVE-2022-24765"));
  CHECK(advisories_for("git", "").empty());
  CHECK(advisories_for("git", "unknown").empty());
  CHECK(advisories_for("bwrap-fake", "0.1").empty());
}

TEST_CASE("the command that installs is that of the distribution, or none") {
  CHECK(install_command("ID=debian\nVERSION_ID=12\n", "bubblewrap") == "sudo apt-get install bubblewrap");
  CHECK(install_command("NAME=x\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "git") == "sudo apt-get install git");
  CHECK(install_command("ID=fedora\n", "bubblewrap") == "sudo dnf install bubblewrap");
  CHECK(install_command("ID=\"opensuse-leap\"\n", "bubblewrap") == "sudo zypper install bubblewrap");
  CHECK(install_command("ID=nixos\n", "bubblewrap").empty());
  CHECK(install_command("", "bubblewrap").empty());
}

TEST_CASE("the AppArmor profile names both programs and is written and loaded by one command") {
  const std::string command = apparmor_command("/opt/my tools/escrow-launcher", "/usr/bin/bwrap");
  // What the shell would write, without the part that needs root.
  const std::string written =
      output_of("/bin/sh", {"sh", "-c", command.substr(0, command.find(" | sudo")) + "; exit 0"});
  CHECK(written ==
        "abi <abi/4.0>,\ninclude <tunables/global>\n"
        "profile escrow-launcher \"/opt/my tools/escrow-launcher\" flags=(unconfined) { userns, }\n"
        "profile escrow-bwrap \"/usr/bin/bwrap\" flags=(unconfined) { userns, }\n");
  CHECK(command.ends_with("| sudo tee /etc/apparmor.d/escrow && sudo apparmor_parser -r /etc/apparmor.d/escrow"));
}

TEST_CASE("a program that never ends is ended, and what it printed is kept") {
  const auto began = std::chrono::steady_clock::now();
  CHECK(output_of("/bin/sh", {"sh", "-c", "echo said; exec sleep 100"}, std::chrono::milliseconds(300)) == "said\n");
  CHECK(output_of("/bin/sh", {"sh", "-c", "exec >&-; exec sleep 100"}, std::chrono::milliseconds(300)).empty());
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  CHECK(output_of("/no/such/program", {"x"}).empty());
}

TEST_CASE("what is told of the host has a detail each, and a command where something can be mended") {
  Probe broken;
  broken.reason = ProbeReason::nested_container;
  for (const Probe& probe : {probe_host(libexec_dir()), broken})
    for (const ProbeItem& item : host_advice(probe, libexec_dir())) {
      INFO(item.name << ": " << item.detail);
      CHECK_FALSE(item.detail.empty());
      CHECK((item.name == "git" || item.name == "apparmor" || item.name == "container"));
    }
}

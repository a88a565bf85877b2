#include "engine/command_table.h"

#include <set>
#include <string>

#include "tests/catch.h"

using namespace escrow::engine;

TEST_CASE("every program stands in the table once, and is found") {
  std::set<std::string_view> seen;
  for (const CommandProfile& profile : command_profiles()) {
    INFO(profile.name);
    CHECK(seen.insert(profile.name).second);
    CHECK_FALSE(profile.name.empty());
    REQUIRE(find_profile(profile.name) != nullptr);
    CHECK(find_profile(profile.name)->role == profile.role);
  }
  CHECK(seen.size() > 1000);
  CHECK(find_profile("no-such-program") == nullptr);
}

TEST_CASE("options that write or run something take a value") {
  for (const CommandProfile& profile : command_profiles()) {
    for (const std::string_view list : {profile.write_options, profile.run_options}) {
      std::size_t at = 0;
      while (at < list.size()) {
        const std::size_t end = std::min(list.find(' ', at), list.size());
        const std::string_view option = list.substr(at, end - at);
        INFO(profile.name << " " << option);
        CHECK((option.starts_with("--") || in_list(profile.value_options, option)));
        at = end + 1;
      }
    }
  }
}

TEST_CASE("every program with effects by sub-command is known, and each of its sub-commands is listed once") {
  std::set<std::string> seen;
  for (const SubcommandEffect& effect : subcommand_effects()) {
    INFO(effect.program);
    CHECK(find_profile(effect.program) != nullptr);
    std::size_t at = 0;
    while (at < effect.subcommands.size()) {
      const std::size_t end = std::min(effect.subcommands.find(' ', at), effect.subcommands.size());
      const std::string key = std::string(effect.program) + " " + std::string(effect.subcommands.substr(at, end - at));
      INFO(key);
      CHECK(seen.insert(key).second);
      at = end + 1;
    }
  }
}

TEST_CASE("program names are looked up without path, case or version") {
  CHECK(program_key("/usr/bin/python3.11") == "python");
  CHECK(program_key("CURL") == "curl");
  CHECK(program_key("clang-format-15") == "clang-format");
  CHECK(program_key("base64") == "base64");
  CHECK(program_key("sha256sum") == "sha256sum");
  CHECK(program_key("rm.exe") == "rm");
  CHECK(is_trusted_path("/usr/bin/ls"));
  CHECK_FALSE(is_trusted_path("./ls"));
  CHECK_FALSE(is_trusted_path("/tmp/ls"));
}

TEST_CASE("arguments are read by the program's own grammar") {
  std::vector<Word> argv;
  for (const char* text : {"curl", "-sSo", "out", "--header=x", "-X", "POST", "--", "-url"}) {
    Word word;
    word.text = text;
    argv.push_back(word);
  }
  const Arguments args = read_arguments(argv, 1, "-o -X --header");
  CHECK(args.has("-s"));
  CHECK(args.find("-o")->value == "out");
  CHECK(args.find("--header")->value == "x");
  CHECK(args.find("-X")->value == "POST");
  REQUIRE(args.positionals.size() == 1);
  CHECK(args.positional(0) == "-url");
  CHECK(args.positional(7).empty());
}

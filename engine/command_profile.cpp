#include "engine/command_profile.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/command_table.h"

namespace escrow::engine {

using std::string_view;

const CommandProfile* find_profile(string_view key) {
  const auto table = command_profiles();
  const auto it = std::lower_bound(table.begin(), table.end(), key,
                                   [](const CommandProfile& row, string_view name) { return row.name < name; });
  return it != table.end() && it->name == key ? &*it : nullptr;
}

std::string program_key(string_view word) {
  std::string key(base_name(word));
  for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (key.ends_with(".exe")) key.resize(key.size() - 4);
  if (find_profile(key) != nullptr) return key;
  std::size_t end = key.size();
  while (end > 0 && (std::isdigit(static_cast<unsigned char>(key[end - 1])) != 0 || key[end - 1] == '.')) --end;
  if (end > 0 && key[end - 1] == '-') --end;
  const string_view stem = string_view(key).substr(0, end);
  if (end > 1 && end < key.size() && find_profile(stem) != nullptr) return std::string(stem);
  return key;
}

bool is_trusted_path(string_view word) {
  const std::size_t slash = word.rfind('/');
  if (slash == string_view::npos) return true;
  static constexpr std::array<string_view, 10> kDirs = {
      "/bin",           "/usr/bin",        "/usr/local/bin",    "/sbin",
      "/usr/sbin",      "/usr/local/sbin", "/opt/homebrew/bin", "/run/current-system/sw/bin",
      "/opt/local/bin", "/snap/bin"};
  return std::find(kDirs.begin(), kDirs.end(), word.substr(0, slash)) != kDirs.end();
}

bool in_list(string_view list, string_view item) {
  // Item by item: a search for the text would stop at every dash of an option list.
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(' ', at), list.size());
    if (end - at == item.size() && list.compare(at, end - at, item) == 0) return !item.empty();
    at = end + 1;
  }
  return false;
}

bool Arguments::has(string_view names) const {
  return find(names) != nullptr;
}

const Option* Arguments::find(string_view names) const {
  for (const Option& option : options) {
    if (in_list(names, option.name)) return &option;
  }
  return nullptr;
}

string_view Arguments::positional(std::size_t i) const {
  return i < positionals.size() ? string_view(positionals[i]->text) : string_view();
}

namespace {

class ArgumentReader {
 public:
  ArgumentReader(const std::vector<Word>& argv, string_view value_options) : argv_(argv), values_(value_options) {}

  Arguments read(std::size_t first) {
    bool only_words = false;
    for (at_ = first; at_ < argv_.size(); ++at_) {
      const string_view text = argv_[at_].text;
      if (only_words || text.size() < 2 || text.front() != '-') {
        out_.positionals.push_back(&argv_[at_]);
      } else if (text == "--") {
        only_words = true;
      } else if (text.starts_with("--")) {
        read_long(text);
      } else {
        read_short(text);
      }
    }
    return std::move(out_);
  }

 private:
  void take_next(Option& option) {
    if (at_ + 1 >= argv_.size()) return;
    ++at_;
    option.value = argv_[at_].text;
    option.word = &argv_[at_];
  }

  void read_long(string_view text) {
    Option option;
    option.index = at_;
    const std::size_t equals = text.find('=');
    option.name = text.substr(0, equals);
    if (equals != string_view::npos)
      option.value = text.substr(equals + 1);
    else if (in_list(values_, text))
      take_next(option);
    out_.options.push_back(std::move(option));
  }

  void read_short(string_view text) {
    Option whole;
    whole.index = at_;
    const std::size_t equals = text.find('=');
    whole.name = text.substr(0, equals);
    if (in_list(values_, text)) {
      take_next(whole);
      out_.options.push_back(std::move(whole));
      return;
    }
    if (equals != string_view::npos) whole.value = text.substr(equals + 1);
    out_.options.push_back(whole);
    if (text.size() == 2) return;
    for (std::size_t i = 1; i < text.size(); ++i) {
      Option letter;
      letter.index = at_;
      letter.name = {'-', text[i]};
      const bool takes = in_list(values_, letter.name);
      if (takes && i + 1 < text.size())
        letter.value = text.substr(i + 1);
      else if (takes)
        take_next(letter);
      out_.options.push_back(std::move(letter));
      if (takes) return;
    }
  }

  const std::vector<Word>& argv_;
  string_view values_;
  std::size_t at_ = 0;
  Arguments out_;
};

}  // namespace

Arguments read_arguments(const std::vector<Word>& argv, std::size_t first, string_view value_options) {
  return ArgumentReader(argv, value_options).read(first);
}

const SubcommandEffect* find_effect(string_view program, string_view subcommand, string_view next) {
  const auto table = subcommand_effects();
  auto it = std::lower_bound(table.begin(), table.end(), program,
                             [](const SubcommandEffect& row, string_view name) { return row.program < name; });
  const SubcommandEffect* other = nullptr;
  const SubcommandEffect* one = nullptr;
  const string_view wanted = subcommand.empty() ? string_view("-") : subcommand;
  const std::string both = next.empty() ? std::string() : std::string(subcommand) + "/" + std::string(next);
  for (; it != table.end() && it->program == program; ++it) {
    if (!both.empty() && in_list(it->subcommands, both)) return &*it;
    if (one == nullptr && in_list(it->subcommands, wanted)) one = &*it;
    if (it->subcommands == "*") other = &*it;
  }
  return one != nullptr ? one : other;
}

}  // namespace escrow::engine

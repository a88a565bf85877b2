#include "server/workspace/write_journal.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "server/store/atomic_file.h"
#include "server/store/json_member.h"
#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

std::string file_of(const std::string& directory, const std::string& id) {
  return directory + "/" + id + ".json";
}

WriteJournal from_json(const boost::json::value& value) {
  WriteJournal journal;
  const auto& object = value.as_object();
  journal.id = std::string(object.at("id").as_string());
  journal.root = std::string(object.at("root").as_string());
  journal.committed = object.at("committed").as_bool();
  for (const auto& name : object.at("madeDirectories").as_array()) {
    journal.made_directories.emplace_back(name.as_string());
  }
  for (const auto& item : object.at("entries").as_array()) {
    const auto& entry = item.as_object();
    journal.entries.push_back({.path = std::string(entry.at("path").as_string()),
                               .temporary = std::string(entry.at("temporary").as_string()),
                               .before = std::string(entry.at("before").as_string()),
                               .after = std::string(entry.at("after").as_string())});
  }
  return journal;
}

}  // namespace

Result<void> save_journal(const std::string& directory, const WriteJournal& journal) {
  if (auto made = make_private_directory(directory); !made) return made;
  boost::json::array entries;
  for (const auto& entry : journal.entries) {
    entries.push_back(
        {{"path", entry.path}, {"temporary", entry.temporary}, {"before", entry.before}, {"after", entry.after}});
  }
  const boost::json::object object{{"id", journal.id},
                                   {"root", journal.root},
                                   {"committed", journal.committed},
                                   {"madeDirectories", boost::json::value_from(journal.made_directories)},
                                   {"entries", std::move(entries)}};
  return write_file_atomically(file_of(directory, journal.id), boost::json::serialize(object));
}

void remove_journal(const std::string& directory, const std::string& id) {
  ::unlink(file_of(directory, id).c_str());
}

std::vector<WriteJournal> load_journals(const std::string& directory, std::vector<std::string>& problems) {
  std::vector<WriteJournal> journals;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".json") continue;
    const auto bytes = read_file(entry.path().string());
    try {
      if (bytes) journals.push_back(from_json(parse_stored(*bytes)));
    } catch (const std::exception& what) {
      problems.push_back(entry.path().string() + ": unreadable journal (" + what.what() + "); left as it is");
    }
  }
  return journals;
}

}  // namespace escrow::server

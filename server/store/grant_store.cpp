#include "server/store/grant_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>

#include "engine/redact.h"
#include "server/hash.h"
#include "server/store/grant_json.h"
#include "server/store/json_member.h"
#include "server/store/json_places.h"
#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

namespace json = boost::json;

/// An entry of the file. One that cannot be read is kept as it is, so that nothing is lost by a rewrite.
struct StoredEntry {
  json::value raw;
  std::optional<engine::Grant> grant;
};

struct StoredGrants {
  std::vector<StoredEntry> entries;
  std::vector<std::string> notes;
  bool uncertain = false;  ///< something unreadable may have been a deny
};

Error unusable_store(const std::string& file, const std::string& text, std::size_t offset, const std::string& why) {
  return {ErrorKind::io, file + ":" + place_of_offset(text, offset) + ": " + why +
                             "; nothing in this store is used: mend it, or move it away"};
}

/// The migration seam: the entries of a store of this version, in the shape of version 1.
Result<json::array> entries_of(std::int64_t version, json::object& root, const std::string& file,
                               const std::string& text, std::size_t at) {
  if (version == kGrantStoreVersion) return std::move(root["grants"].get_array());
  return unusable_store(file, text, at,
                        "version " + std::to_string(version) + ", and this Escrow reads version " +
                            std::to_string(kGrantStoreVersion) + " only");
}

Result<json::array> read_root(const std::string& file, const std::string& text, const JsonMembers& places) {
  boost::system::error_code error;
  auto root = parse_stored(text, error);
  if (error) return unusable_store(file, text, end_of_json(text), "not JSON (" + error.message() + ")");
  auto* object = root.if_object();
  if (object == nullptr) return unusable_store(file, text, 0, R"(expected an object, as in {"version":1,"grants":[]})");
  if (!places.root.repeated.empty())
    return unusable_store(file, text, 0, "`" + engine::one_line(places.root.repeated, 60) + "` is there twice");
  for (const auto& member : *object) {
    if (member.key() == "version" || member.key() == "grants") continue;
    const auto at = places.root.members.find(std::string_view(member.key()));
    return unusable_store(file, text, at == places.root.members.end() ? 0 : at->second,
                          "unknown member `" + engine::one_line(member.key(), 60) + "`; allowed here: grants, version");
  }
  const auto* version = object->if_contains("version");
  if (version == nullptr || !version->is_int64())
    return unusable_store(file, text, 0, "needs `version`: a whole number");
  const auto* grants = object->if_contains("grants");
  if (grants == nullptr || !grants->is_array()) return unusable_store(file, text, 0, "needs `grants`: a list");
  return entries_of(version->get_int64(), *object, file, text, places.root.members.at("version"));
}

/// Only what says `allow` is surely no lost deny.
bool may_be_deny(const json::value& entry) {
  const auto* object = entry.if_object();
  return object == nullptr || text_at(*object, "effect") != engine::name_of(engine::GrantEffect::allow);
}

Result<StoredGrants> parse_store(const std::string& file, const std::string& text) {
  const JsonMembers places = find_members(text, "grants");
  auto entries = read_root(file, text, places);
  if (!entries) return entries.error();
  StoredGrants stored;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const JsonElement& place = places.elements.at(i);
    auto read = grant_from_json((*entries)[i]);
    const GrantFault repeated{"", "`" + engine::one_line(place.repeated, 60) + "` is there twice; keep one"};
    const GrantFault* fault = place.repeated.empty() ? std::get_if<GrantFault>(&read) : &repeated;
    stored.entries.push_back({std::move((*entries)[i]), std::nullopt});
    if (fault == nullptr) {
      stored.entries.back().grant = std::get<engine::Grant>(std::move(read));
      continue;
    }
    stored.uncertain = stored.uncertain || !place.repeated.empty() || may_be_deny(stored.entries.back().raw);
    const auto member = place.members.find(fault->member);
    const std::size_t at = member == place.members.end() ? place.offset : member->second;
    stored.notes.push_back(file + ":" + place_of_offset(text, at) + ": " +
                           (fault->member.empty() ? "" : engine::one_line(fault->member, 60) + ": ") + fault->message +
                           " (grant " + std::to_string(i + 1) + " allows nothing)");
  }
  return stored;
}

/// Whoever may write it decides what agents may do.
Result<void> check_store_owner(const std::string& file, const struct stat& status) {
  if (status.st_uid != ::geteuid())
    return Error{ErrorKind::io, file + ": belongs to another user; nothing in it is used"};
  if ((status.st_mode & 022) != 0)
    return Error{ErrorKind::io, file + ": can be written by others; nothing in it is used: run chmod 600 on it"};
  return {};
}

struct OpenStore {
  Fd fd;
  struct stat status {};
};

/// Empty if there is no such file.
Result<std::optional<OpenStore>> open_store(const std::string& file) {
  OpenStore out{Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)), {}};
  if (!out.fd && errno == ENOENT) return std::optional<OpenStore>();
  if (!out.fd && errno == ELOOP)
    return Error{ErrorKind::io, file + ": is a symbolic link; nothing behind it is used: put the file itself there"};
  if (!out.fd) return io_error("cannot read " + file);
  if (::fstat(out.fd.get(), &out.status) != 0) return io_error("cannot stat " + file);
  return std::optional<OpenStore>(std::move(out));
}

Result<StoredGrants> load_store(const std::string& file, const OpenStore& store) {
  if (auto checked = check_store_owner(file, store.status); !checked) return checked.error();
  const auto text = read_regular_file(store.fd.get(), file, kMaxGrantStoreBytes);
  if (!text) return text.error();
  return parse_store(file, *text);
}

/// Readable ones in order of age, then the damaged ones as they stood; one a line, for people and their diffs.
std::string serialized(std::vector<StoredEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const StoredEntry& a, const StoredEntry& b) {
    if (!a.grant || !b.grant) return a.grant.has_value() && !b.grant.has_value();
    return std::tie(a.grant->created_ms, a.grant->id) < std::tie(b.grant->created_ms, b.grant->id);
  });
  std::string text = R"({"version":)" + std::to_string(kGrantStoreVersion) + R"(,"grants":[)";
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += (i == 0 ? "\n" : ",\n") + json::serialize(entries[i].grant ? to_json(*entries[i].grant) : entries[i].raw);
  return text + "\n]}\n";
}

/// What a writer that was killed left behind. Only the holder of the lock writes such files.
void remove_leftovers(const std::filesystem::path& file) {
  std::error_code error;
  const std::string prefix = file.filename().string() + ".new-";
  for (std::filesystem::directory_iterator at(file.parent_path(), error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(prefix)) ::unlink(at->path().c_str());
}

bool has_id(const StoredEntry& entry, const std::string& id) {
  const auto* object = entry.raw.if_object();
  return entry.grant ? entry.grant->id == id : object != nullptr && text_at(*object, "id") == id;
}

bool lives_in_memory(const engine::Grant& grant) {
  return grant.scope == engine::Scope::once || grant.scope == engine::Scope::session;
}

enum class Store { changed, unchanged };

/// Locks, reads, changes, writes.
template <class Change>
Result<void> update_store(const std::string& file, Change change) {
  if (auto made = make_private_directory(std::filesystem::path(file).parent_path().string()); !made) return made;
  const auto lock = FileLock::take(file);
  if (!lock) return lock.error();
  remove_leftovers(file);
  auto opened = open_store(file);
  if (!opened) return opened.error();
  StoredGrants stored;
  if (*opened) {
    auto loaded = load_store(file, **opened);
    if (!loaded) return loaded.error();
    stored = std::move(*loaded);
  }
  if (change(stored.entries) == Store::unchanged) return {};
  return write_file_atomically(file, serialized(std::move(stored.entries)));
}

}  // namespace

GrantStore::GrantStore(std::string file) : file_(std::move(file)) {}

bool GrantStore::is_unchanged() const {
  struct stat now {};
  if (!looked_) return false;
  if (::stat(file_.c_str(), &now) != 0) return errno == ENOENT && !seen_ && notes_.empty();
  if (!seen_) return false;
  const struct stat& then = seen_->status;
  return now.st_dev == then.st_dev && now.st_ino == then.st_ino && now.st_size == then.st_size &&
         now.st_mode == then.st_mode && now.st_uid == then.st_uid && now.st_mtim.tv_sec == then.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == then.st_mtim.tv_nsec;
}

void GrantStore::reload_if_changed() {
  if (is_unchanged()) return;
  looked_ = true;
  seen_.reset();
  stored_.clear();
  notes_.clear();
  uncertain_ = false;
  auto opened = open_store(file_);
  auto stored = opened ? (*opened ? load_store(file_, **opened) : Result<StoredGrants>(StoredGrants{}))
                       : Result<StoredGrants>(opened.error());
  if (opened && *opened) seen_ = Seen{std::move((*opened)->fd), (*opened)->status};
  if (stored) {
    for (auto& entry : stored->entries)
      if (entry.grant) stored_.push_back(std::move(*entry.grant));
    notes_ = std::move(stored->notes);
    uncertain_ = stored->uncertain;
  } else {
    notes_.push_back(stored.error().message);
    uncertain_ = true;
  }
  rebuild();
}

void GrantStore::rebuild() {
  std::vector<engine::Grant> all = stored_;
  all.insert(all.end(), memory_.begin(), memory_.end());
  index_ = engine::GrantIndex(std::move(all));
}

const engine::GrantIndex& GrantStore::index() {
  reload_if_changed();
  return index_;
}

bool GrantStore::uncertain() {
  reload_if_changed();
  return uncertain_;
}

const std::vector<engine::Grant>& GrantStore::current(std::int64_t now_ms) {
  current_.clear();
  for (const auto& grant : index().all())
    if (!grant.expires_ms || *grant.expires_ms > now_ms) current_.push_back(grant);
  return current_;
}

Result<engine::Grant> GrantStore::add(engine::Grant grant) {
  grant.reason = engine::redact(grant.reason);
  grant.shown = engine::redact(grant.shown);
  if (auto valid = engine::validate_grant(grant); !valid) {
    return Error{ErrorKind::invalid_params, valid.error().message};
  }
  grant.id = "g-" + random_token().substr(0, 10);
  if (lives_in_memory(grant)) {
    memory_.push_back(grant);
    rebuild();
    return grant;
  }
  const auto saved = update_store(file_, [&](std::vector<StoredEntry>& entries) {
    entries.push_back({{}, grant});
    return Store::changed;
  });
  if (!saved) return saved.error();
  return grant;
}

Result<bool> GrantStore::revoke(const std::string& id) {
  const auto in_memory = std::erase_if(memory_, [&](const engine::Grant& grant) { return grant.id == id; });
  if (in_memory > 0) {
    rebuild();
    return true;
  }
  bool found = false;
  const auto saved = update_store(file_, [&](std::vector<StoredEntry>& entries) {
    found = std::erase_if(entries, [&](const StoredEntry& entry) { return has_id(entry, id); }) > 0;
    return found ? Store::changed : Store::unchanged;
  });
  if (!saved) return saved.error();
  return found;
}

Result<std::size_t> GrantStore::revoke_all() {
  std::size_t count = memory_.size();
  memory_.clear();
  rebuild();
  const auto saved = update_store(file_, [&](std::vector<StoredEntry>& entries) {
    count += entries.size();
    const bool any = !entries.empty();
    entries.clear();
    return any ? Store::changed : Store::unchanged;
  });
  if (!saved) return saved.error();
  return count;
}

void GrantStore::end_session(const std::string& session) {
  std::erase_if(memory_, [&](const engine::Grant& grant) { return grant.session == session; });
  rebuild();
}

void GrantStore::spend(const std::string& id) {
  const auto spent = std::erase_if(
      memory_, [&](const engine::Grant& grant) { return grant.id == id && grant.scope == engine::Scope::once; });
  if (spent > 0) rebuild();
}

}  // namespace escrow::server

#include "server/store/grant_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <tuple>
#include <utility>
#include <variant>

#include "engine/redact.h"
#include "server/hash.h"
#include "server/store/grant_json.h"
#include "server/store/json_member.h"
#include "server/store/json_places.h"
#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

namespace json = boost::json;

struct StoredGrants {
  GrantStore::Read entries;
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

/// Validating a grant parses its command; what was read before is not read again.
std::variant<engine::Grant, GrantFault> read_entry(const json::value& raw, const std::string& text,
                                                   const GrantStore::Read& before) {
  if (const auto known = before.find(text); known != before.end()) return known->second;
  return grant_from_json(raw);
}

Result<StoredGrants> parse_store(const std::string& file, const std::string& text, const GrantStore::Read& before) {
  const JsonMembers places = find_members(text, "grants");
  auto entries = read_root(file, text, places);
  if (!entries) return entries.error();
  StoredGrants stored;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const JsonElement& place = places.elements.at(i);
    const json::value& raw = (*entries)[i];
    std::string written = json::serialize(raw);
    auto read = read_entry(raw, written, before);
    const GrantFault repeated{"", "`" + engine::one_line(place.repeated, 60) + "` is there twice; keep one"};
    const GrantFault* fault = place.repeated.empty() ? std::get_if<GrantFault>(&read) : &repeated;
    if (fault == nullptr) {
      stored.entries.emplace(std::move(written), std::get<engine::Grant>(std::move(read)));
      continue;
    }
    stored.uncertain = stored.uncertain || !place.repeated.empty() || may_be_deny(raw);
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

Result<std::string> read_store_text(const std::string& file, const OpenStore& store) {
  if (auto checked = check_store_owner(file, store.status); !checked) return checked.error();
  return read_regular_file(store.fd.get(), file, kMaxGrantStoreBytes);
}

Result<StoredGrants> load_store(const std::string& file, const OpenStore& store, const GrantStore::Read& before) {
  const auto text = read_store_text(file, store);
  if (!text) return text.error();
  return parse_store(file, *text, before);
}

std::pair<std::int64_t, std::string> order_of(const json::value& entry) {
  const auto* object = entry.if_object();
  const auto* created = object == nullptr ? nullptr : object->if_contains("createdAt");
  if (created == nullptr || !created->is_int64()) return {std::numeric_limits<std::int64_t>::max(), {}};
  return {created->get_int64(), text_at(*object, "id")};
}

/// In order of age, what has none last and as it stood; one a line, for people and their diffs.
std::string serialized(json::array& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const json::value& a, const json::value& b) { return order_of(a) < order_of(b); });
  std::string text = R"({"version":)" + std::to_string(kGrantStoreVersion) + R"(,"grants":[)";
  for (std::size_t i = 0; i < entries.size(); ++i) text += (i == 0 ? "\n" : ",\n") + json::serialize(entries[i]);
  return text + "\n]}\n";
}

/// What a writer that was killed left behind. Only the holder of the lock writes such files.
void remove_leftovers(const std::filesystem::path& file) {
  std::error_code error;
  const std::string prefix = file.filename().string() + ".new-";
  for (std::filesystem::directory_iterator at(file.parent_path(), error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(prefix)) ::unlink(at->path().c_str());
}

bool has_id(const json::value& entry, const std::string& id) {
  const auto* object = entry.if_object();
  return object != nullptr && text_at(*object, "id") == id;
}

std::size_t erase_id(json::array& entries, const std::string& id) {
  const auto end =
      std::remove_if(entries.begin(), entries.end(), [&](const json::value& one) { return has_id(one, id); });
  const auto count = static_cast<std::size_t>(entries.end() - end);
  entries.erase(end, entries.end());
  return count;
}

bool lives_in_memory(const engine::Grant& grant) {
  return grant.scope == engine::Scope::once || grant.scope == engine::Scope::session;
}

enum class Store { changed, unchanged };

/// Locks, reads, changes, writes. Entries are taken as they are: a damaged one is lost by no rewrite.
template <class Change>
Result<void> update_store(const std::string& file, Change change) {
  if (auto made = make_private_directory(std::filesystem::path(file).parent_path().string()); !made) return made;
  const auto lock = FileLock::take(file);
  if (!lock) return lock.error();
  remove_leftovers(file);
  auto opened = open_store(file);
  if (!opened) return opened.error();
  json::array entries;
  if (*opened) {
    const auto text = read_store_text(file, **opened);
    if (!text) return text.error();
    auto read = read_root(file, *text, find_members(*text, "grants"));
    if (!read) return read.error();
    entries = std::move(*read);
  }
  if (change(entries) == Store::unchanged) return {};
  return write_file_atomically(file, serialized(entries));
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
  const Read before = std::exchange(stored_, {});
  notes_.clear();
  uncertain_ = false;
  auto opened = open_store(file_);
  auto stored = opened ? (*opened ? load_store(file_, **opened, before) : Result<StoredGrants>(StoredGrants{}))
                       : Result<StoredGrants>(opened.error());
  if (opened && *opened) seen_ = Seen{std::move((*opened)->fd), (*opened)->status};
  if (stored) {
    stored_ = std::move(stored->entries);
    notes_ = std::move(stored->notes);
    uncertain_ = stored->uncertain;
  } else {
    notes_.push_back(stored.error().message);
    uncertain_ = true;
  }
  rebuild();
}

void GrantStore::rebuild() {
  std::vector<engine::Grant> all;
  for (const auto& [written, grant] : stored_) all.push_back(grant);
  std::sort(all.begin(), all.end(), [](const engine::Grant& a, const engine::Grant& b) {
    return std::tie(a.created_ms, a.id) < std::tie(b.created_ms, b.id);
  });
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
  const auto saved = update_store(file_, [&](json::array& entries) {
    entries.push_back(to_json(grant));
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
  const auto saved = update_store(file_, [&](json::array& entries) {
    found = erase_id(entries, id) > 0;
    return found ? Store::changed : Store::unchanged;
  });
  if (!saved) return saved.error();
  return found;
}

Result<std::size_t> GrantStore::revoke_all() {
  std::size_t count = memory_.size();
  memory_.clear();
  rebuild();
  const auto saved = update_store(file_, [&](json::array& entries) {
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

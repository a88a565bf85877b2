#include "server/store/grant_store.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "engine/redact.h"
#include "server/hash.h"
#include "server/store/atomic_file.h"
#include "server/store/grant_json.h"
#include "server/store/json_member.h"
#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

constexpr int kVersion = 1;

/// The file as JSON: entries that could not be read are kept as they are, so that nothing is lost by a rewrite.
struct StoredGrants {
  boost::json::array entries;
  std::vector<engine::Grant> grants;
  std::vector<std::string> notes;
};

Result<StoredGrants> parse_store(const std::string& file, const std::string& bytes) {
  boost::system::error_code error;
  const auto root = parse_stored(bytes, error);
  const auto* object = error ? nullptr : root.if_object();
  const auto* entries = object == nullptr ? nullptr : object->if_contains("grants");
  if (entries == nullptr || !entries->is_array()) {
    return Error{ErrorKind::io, file + ": not a grant store; move it away, or mend it (nothing in it is used)"};
  }
  StoredGrants stored;
  stored.entries = entries->get_array();
  for (std::size_t i = 0; i < stored.entries.size(); ++i) {
    auto grant = grant_from_json(stored.entries[i]);
    if (grant && !grant->id.empty() && engine::validate_grant(*grant)) {
      stored.grants.push_back(*grant);
    } else {
      stored.notes.push_back(file + ": entry " + std::to_string(i + 1) + " is damaged and allows nothing");
    }
  }
  return stored;
}

Result<StoredGrants> load_store(const std::string& file) {
  const auto bytes = read_file(file);
  if (!bytes && bytes.error().kind == ErrorKind::not_found) return StoredGrants{};
  if (!bytes) return bytes.error();
  return parse_store(file, *bytes);
}

Result<void> save_store(const std::string& file, const boost::json::array& entries) {
  const boost::json::object root{{"version", kVersion}, {"grants", entries}};
  return write_file_atomically(file, boost::json::serialize(root) + "\n");
}

bool has_id(const boost::json::value& entry, const std::string& id) {
  const auto* object = entry.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains("id");
  return found != nullptr && found->is_string() && found->get_string() == id;
}

bool lives_in_memory(const engine::Grant& grant) {
  return grant.scope == engine::Scope::once || grant.scope == engine::Scope::session;
}

/// Locks, reads, changes, writes.
template <class Change>
Result<void> update_store(const std::string& file, Change change) {
  if (auto made = make_private_directory(std::filesystem::path(file).parent_path().string()); !made) return made;
  const auto lock = FileLock::take(file);
  if (!lock) return lock.error();
  auto stored = load_store(file);
  if (!stored) return stored.error();
  change(stored->entries);
  return save_store(file, stored->entries);
}

}  // namespace

GrantStore::GrantStore(std::string file) : file_(std::move(file)), seen_("never read") {}

void GrantStore::reload_if_changed() {
  const std::string stamp = file_stamp(file_);
  if (stamp == seen_) return;
  seen_ = stamp;
  stored_.clear();
  notes_.clear();
  auto stored = load_store(file_);
  if (!stored) {
    notes_.push_back(stored.error().message);
    return;
  }
  stored_ = std::move(stored->grants);
  notes_ = std::move(stored->notes);
}

const std::vector<engine::Grant>& GrantStore::current(std::int64_t now_ms) {
  reload_if_changed();
  current_.clear();
  for (const auto* list : {&stored_, &memory_}) {
    for (const auto& grant : *list) {
      if (!grant.expires_ms || *grant.expires_ms > now_ms) current_.push_back(grant);
    }
  }
  return current_;
}

Result<engine::Grant> GrantStore::add(engine::Grant grant) {
  grant.reason = engine::redact(grant.reason);
  if (auto valid = engine::validate_grant(grant); !valid) {
    return Error{ErrorKind::invalid_params, valid.error().message};
  }
  grant.id = "g-" + random_token().substr(0, 10);
  if (lives_in_memory(grant)) {
    memory_.push_back(grant);
    return grant;
  }
  const auto saved = update_store(file_, [&](boost::json::array& entries) { entries.push_back(to_json(grant)); });
  if (!saved) return saved.error();
  return grant;
}

Result<bool> GrantStore::revoke(const std::string& id) {
  const auto in_memory = std::erase_if(memory_, [&](const engine::Grant& grant) { return grant.id == id; });
  if (in_memory > 0) return true;
  reload_if_changed();
  bool found = false;
  const auto saved = update_store(file_, [&](boost::json::array& entries) {
    for (auto it = entries.begin(); it != entries.end();) {
      if (has_id(*it, id)) {
        it = entries.erase(it);
        found = true;
      } else {
        ++it;
      }
    }
  });
  if (!saved) return saved.error();
  return found;
}

Result<std::size_t> GrantStore::revoke_all() {
  std::size_t count = memory_.size();
  memory_.clear();
  const auto saved = update_store(file_, [&](boost::json::array& entries) {
    count += entries.size();
    entries.clear();
  });
  if (!saved) return saved.error();
  return count;
}

void GrantStore::end_session(const std::string& session) {
  std::erase_if(memory_, [&](const engine::Grant& grant) { return grant.session == session; });
}

void GrantStore::spend(const std::string& id) {
  std::erase_if(memory_,
                [&](const engine::Grant& grant) { return grant.id == id && grant.scope == engine::Scope::once; });
}

}  // namespace escrow::server

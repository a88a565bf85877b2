#include "server/store/grant_json.h"

#include <boost/json.hpp>
#include <functional>

#include "engine/redact.h"

namespace escrow::server {
namespace {

void put_if(boost::json::object& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

template <class E>
std::string names_of_enum() {
  std::string text;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto entry) { text += (text.empty() ? "" : ", ") + std::string(entry.name); });
  return text;
}

/// Reads one member, or says what is allowed there; an empty text is no complaint.
using ReadMember = std::function<std::string(const boost::json::value&)>;

ReadMember into(std::string& out) {
  return [&out](const boost::json::value& value) -> std::string {
    if (!value.is_string()) return "expected text";
    out = std::string(value.get_string());
    return {};
  };
}

template <class Number>
ReadMember into_time(Number& out) {
  return [&out](const boost::json::value& value) -> std::string {
    if (!value.is_int64() || value.get_int64() < 0) return "expected a time in milliseconds, a whole number";
    out = value.get_int64();
    return {};
  };
}

template <class E>
ReadMember into_enum(E& out) {
  return [&out](const boost::json::value& value) -> std::string {
    const auto read =
        value.is_string() ? engine::parse_enum<E>(std::string_view(value.get_string())) : std::optional<E>();
    if (!read) return "expected one of " + names_of_enum<E>();
    out = *read;
    return {};
  };
}

/// The one list of what an entry may hold.
std::map<std::string, ReadMember> members_of(engine::Grant& grant) {
  return {{"id", into(grant.id)},
          {"effect", into_enum(grant.effect)},
          {"tool", into(grant.tool)},
          {"scope", into_enum(grant.scope)},
          {"autonomy", into_enum(grant.max_autonomy)},
          {"createdAt", into_time(grant.created_ms)},
          {"match", into(grant.match)},
          {"subject", into(grant.subject_hash)},
          {"callId", into(grant.call_id)},
          {"workspace", into(grant.workspace)},
          {"session", into(grant.session)},
          {"reason", into(grant.reason)},
          {"by", into(grant.by)},
          {"shown", into(grant.shown)},
          {"expiresAt", into_time(grant.expires_ms)}};
}

std::string listed_keys(const std::map<std::string, ReadMember>& members) {
  std::string text;
  for (const auto& [key, read] : members) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

boost::json::object to_json(const engine::Grant& grant) {
  boost::json::object object{{"id", grant.id},
                             {"effect", engine::name_of(grant.effect)},
                             {"tool", grant.tool},
                             {"scope", engine::name_of(grant.scope)},
                             {"autonomy", engine::name_of(grant.max_autonomy)},
                             {"createdAt", grant.created_ms}};
  put_if(object, "match", grant.match);
  put_if(object, "subject", grant.subject_hash);
  put_if(object, "callId", grant.call_id);
  put_if(object, "workspace", grant.workspace);
  put_if(object, "session", grant.session);
  put_if(object, "reason", grant.reason);
  put_if(object, "by", grant.by);
  put_if(object, "shown", grant.shown);
  if (grant.expires_ms) object["expiresAt"] = *grant.expires_ms;
  return object;
}

std::variant<engine::Grant, GrantFault> grant_from_json(const boost::json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return GrantFault{"", "expected an object that describes a grant"};
  engine::Grant grant;
  const auto members = members_of(grant);
  for (const auto& [key, content] : *object) {
    const auto member = members.find(std::string(key));
    if (member == members.end())
      return GrantFault{std::string(key),
                        "unknown member `" + engine::one_line(key, 60) + "`; allowed here: " + listed_keys(members)};
    if (auto complaint = member->second(content); !complaint.empty()) return GrantFault{std::string(key), complaint};
  }
  for (const char* needed : {"id", "effect", "tool", "scope", "autonomy"})
    if (!object->contains(needed)) return GrantFault{"", std::string("needs `") + needed + "`"};
  if (grant.id.empty()) return GrantFault{"id", "expected text that tells it from others"};
  if (grant.scope == engine::Scope::once || grant.scope == engine::Scope::session)
    return GrantFault{"scope", "expected one of workspace, user: the others die with their session"};
  if (grant.scope == engine::Scope::workspace && grant.workspace.empty())
    return GrantFault{"scope", "needs `workspace` beside the scope workspace"};
  if (const auto valid = engine::validate_grant(grant); !valid) return GrantFault{"match", valid.error().message};
  grant.reason = engine::redact(grant.reason);
  grant.shown = engine::redact(grant.shown);
  return grant;
}

}  // namespace escrow::server

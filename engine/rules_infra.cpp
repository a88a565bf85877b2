#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

constexpr FileRoles kInfraText = kSource | kConfig | kScript | kWorkflow | kContainer | kInfra;

constexpr LinePattern kInfraPatterns[] = {
    // A container that reaches its host.
    {"container-privilege",
     {"privileged", "allowprivilegeescalation"},
     R"re((?:^\s*-?\s*|[{,]\s*)["']?privileged["']?\s*[:=]\s*["']?true|(?:^\s*|[{,]\s*)["']?allowPrivilegeEscalation["']?\s*[:=]\s*["']?true|--privileged(?:[\s"'=]|$))re",
     Where::text,
     kAnyLanguage,
     kInfraText},
    {"container-privilege",
     {"runasuser", "runasnonroot", "runasgroup", "fsgroup", "user: root", "user: 0", "user: \""},
     R"re(\brunAsUser["']?\s*[:=]\s*0\b|\brunAsNonRoot["']?\s*[:=]\s*false|\brunAsGroup["']?\s*[:=]\s*0\b|^\s*user:\s*["']?(?:root|0(?::0)?)["']?\s*$)re",
     Where::text,
     kAnyLanguage,
     kInfra | kContainer},
    {"container-privilege",
     {"user root", "user 0", "user \"0", "user 0:0"},
     R"re((?i)^\s*USER\s+["']?(?:root|0)(?::\S+)?["']?\s*$)re",
     Where::code,
     bit(Language::dockerfile),
     kContainer | kSource},
    {"container-privilege",
     {"hostnetwork", "hostpid", "hostipc", "hostpath", "network_mode", "pid:", "ipc:", "userns_mode", "--net", "--pid",
      "--ipc", "--userns"},
     R"re(\bhost(?:Network|PID|IPC)["']?\s*[:=]\s*["']?true|\bhostPath["']?\s*:|^\s*(?:network_mode|pid|ipc|userns_mode|cgroup)\s*:\s*["']?host\b|--(?:net(?:work)?|pid|ipc|userns|cgroupns)[= ]host\b)re",
     Where::text,
     kAnyLanguage,
     kInfra | kContainer | kScript},
    {"container-privilege",
     {"docker.sock", "containerd.sock", "crio.sock", "podman.sock"},
     R"re((?:docker|containerd|crio|podman)\.sock)re",
     Where::text,
     kAnyLanguage,
     kInfra | kContainer | kScript | kWorkflow},
    {"container-privilege",
     {"sys_admin", "net_admin", "sys_ptrace", "cap_add", "cap-add", "sys_module", "dac_override", "net_raw", "cap_sys",
      "- all", "\"all\"", "sys_rawio"},
     R"re(\b(?:CAP_)?SYS_(?:ADMIN|PTRACE|MODULE|RAWIO|BOOT|CHROOT)\b|\b(?:CAP_)?(?:NET_ADMIN|DAC_OVERRIDE|DAC_READ_SEARCH|NET_RAW|BPF|PERFMON)\b|--cap-add[= ]\S+|\bcap_add\s*:|\badd\s*[:=]\s*\[\s*["']?ALL)re",
     Where::text,
     kAnyLanguage,
     kInfra | kContainer | kScript},
    {"container-privilege",
     {"unconfined", "apparmor", "seccomp", "label:disable", "no-new-privileges", "readonlyrootfilesystem",
      "automountserviceaccounttoken"},
     R"re(\b(?:seccomp|apparmor)[=:\s"']*unconfined|\btype\s*:\s*["']?Unconfined|label[:=]disable|no-new-privileges[:=]false|\breadOnlyRootFilesystem["']?\s*[:=]\s*false)re",
     Where::text,
     kAnyLanguage,
     kInfra | kContainer | kScript},
    {"container-privilege",
     {"-v ", "--volume", "--mount", "volumes", ":/host", "- /"},
     R"re((?:-v|--volume)[= ]["']?/(?:etc|root|var/run|proc|sys|dev|home)?(?::|/)[^\s:]*:?|^\s*-\s*["']?/(?:etc|root|proc|sys|dev|var/run|home)?:/\S+)re",
     Where::text,
     kAnyLanguage,
     kContainer | kScript | kWorkflow},

    // Infrastructure open to the world.
    {"infra-exposure",
     {"acl", "public-read", "publicread", "accesscontrol", "website"},
     R"re(["']?(?:public-read(?:-write)?|PublicRead(?:Write)?|authenticated-read)["']?)re",
     Where::text,
     kAnyLanguage,
     kInfra | kScript | kSource},
    {"infra-exposure",
     {"block_public", "ignore_public", "restrict_public", "blockpublic", "ignorepublic", "restrictpublic"},
     R"re(\b(?:block_public_(?:acls|policy)|ignore_public_acls|restrict_public_buckets)\s*=\s*false|\b(?:BlockPublic(?:Acls|Policy)|IgnorePublicAcls|RestrictPublicBuckets)["']?\s*:\s*["']?false)re",
     Where::text,
     kAnyLanguage,
     kInfra},
    {"infra-exposure",
     {"principal", "allusers", "allauthenticatedusers", "members"},
     R"re(\bPrincipals?["']?\s*[:=]\s*\{?\s*(?:["']?AWS["']?\s*[:=]\s*)?\[?\s*["']\*["']|\ball(?:Authenticated)?Users\b|\bidentifiers\s*=\s*\[\s*["']\*["'])re",
     Where::text,
     kAnyLanguage,
     kInfra | kScript},
    {"infra-exposure",
     {"action", "actions", "notaction", "verbs", "resources", "apigroups"},
     R"re(\b(?:Action|actions|NotAction)["']?\s*[:=]\s*\[?\s*["'](?:\*|[a-z0-9-]+:\*|\*:\*)["']|\bverbs["']?\s*[:=]\s*\[?\s*["']?\*|^\s*-?\s*Action\s*:\s*["']?\*)re",
     Where::text,
     kAnyLanguage,
     kInfra},
    {"infra-exposure",
     {"administratoraccess", "cluster-admin", "poweruseraccess", "roles/owner", "roles/editor", "iamfullaccess",
      "\"owner\"", "system:anonymous", "system:unauthenticated"},
     R"re(\bAdministratorAccess\b|\bcluster-admin\b|\bPowerUserAccess\b|\broles/(?:owner|editor)\b|\bIAMFullAccess\b|\bsystem:(?:anonymous|unauthenticated)\b|\brole_definition_name\s*=\s*["'](?:Owner|Contributor)["'])re",
     Where::text,
     kAnyLanguage,
     kInfra | kScript},
    {"infra-exposure",
     {"publicly_accessible", "publiclyaccessible", "public_network_access", "publicnetworkaccess", "public_access",
      "publicaccess", "allow_blob_public", "endpoint_public", "allow_nested", "container_access_type"},
     R"re(\bpublicly_accessible\s*=\s*true|\bPubliclyAccessible["']?\s*:\s*["']?true|\bpublic_network_access(?:_enabled)?\s*=\s*(?:true|["']Enabled)|\bpublicNetworkAccess["']?\s*:\s*["']?Enabled|\b(?:allow_blob_public_access|allow_nested_items_to_be_public|endpoint_public_access)\s*=\s*true|\ballowBlobPublicAccess["']?\s*:\s*true|\bcontainer_access_type\s*=\s*["'](?:blob|container)|\bpublic_access\s*=\s*(?:true|["'](?:blob|container)))re",
     Where::text,
     kAnyLanguage,
     kInfra},
    {"infra-exposure",
     {"encrypt", "kms", "sse", "https_only", "https_traffic", "enforce_ssl", "transit_encryption"},
     R"re(\b(?:storage_)?encrypted\s*=\s*false|\b(?:StorageEncrypted|Encrypted)["']?\s*:\s*["']?false|\b(?:enable_)?https_(?:traffic_)?only(?:_enabled)?\s*=\s*false|\b(?:at_rest|transit)_encryption_enabled\s*=\s*false|\bencrypt(?:ion)?(?:_at_rest|_enabled|_in_transit)?\s*=\s*(?:false|["'](?:none|disabled)["'])|\benable_key_rotation\s*=\s*false|\bssl_enforcement_enabled\s*=\s*false|\brequire_ssl\s*=\s*false)re",
     Where::text,
     kAnyLanguage,
     kInfra},
    {"infra-exposure",
     {"authorization", "anonymous", "enable_rbac", "authtype", "auth_type", "local_account", "anonymous-auth",
      "authorization-mode"},
     R"re(\bauthorization(?:_type)?\s*=\s*["']NONE["']|\bAuthorizationType["']?\s*:\s*["']?NONE|--anonymous-auth=true|--authorization-mode=AlwaysAllow|\banonymous\s*:\s*\{?\s*enabled:\s*true|\bauth_?[tT]ype["']?\s*[:=]\s*["']NONE["']|\brole_based_access_control_enabled\s*=\s*false)re",
     Where::text,
     kAnyLanguage,
     kInfra | kScript},
};

const LazyRegex& open_range() {
  static const LazyRegex regex(
      R"re(0\.0\.0\.0/0|::/0\b|(?i:source_?address_?prefix)(?:es)?["']?\s*[:=]\s*\[?\s*["'](?:\*|Internet|Any)["'])re");
  return regex;
}

/// Words by which a block says in which direction it lets traffic.
const LazyRegex& outward() {
  static const LazyRegex regex(
      R"re((?i)\begress\b|\boutbound\b|type\s*=\s*["']egress|\bdirection\s*[:=]\s*["']?(?:egress|outbound)|SecurityGroupEgress|\baws_route\b|\broute\b|route_table|destination_cidr|DestinationCidr|nat_gateway|next_hop|gateway_id)re");
  return regex;
}

const LazyRegex& inward() {
  static const LazyRegex regex(
      R"re((?i)\bingress\b|\binbound\b|SecurityGroupIngress|source_ranges|sourceRanges|loadBalancerSourceRanges|authorized_networks|allowed_cidr|security_group_rule)re");
  return regex;
}

bool may_hold_range(std::string_view text) {
  return text.find("/0") != std::string_view::npos || text.find("refix") != std::string_view::npos;
}

/// An open range is an exposure unless what encloses it, upwards from the line, lets traffic out and not in.
bool leads_outward(const HunkView& hunk, std::size_t index) {
  constexpr std::size_t kFarthest = 60;  // lines
  for (std::size_t i = index + 1, seen = 0; i-- > 0 && seen < kFarthest; ++seen) {
    const DiffLine& line = hunk.lines()[i];
    if (line.kind == LineKind::removed) continue;
    if (inward().matches(line.text)) return false;
    if (outward().matches(line.text)) return true;
  }
  return outward().matches(hunk.hunk().section);
}

}  // namespace

std::span<const LinePattern> infra_patterns() {
  return kInfraPatterns;
}

void find_infra_risks(const FileView& file, Findings& findings) {
  if (!file.facts.has(kInfra | kScript | kContainer)) return;
  for (const HunkView& hunk : file.hunks) {
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != LineKind::added) continue;
      if (!may_hold_range(line.text)) continue;
      if (!open_range().matches(hunk.text_of(i)) || leads_outward(hunk, i)) continue;
      findings.add(file, {.rule = "infra-exposure", .line = line.new_line, .message = "reachable from every address"});
    }
  }
}

}  // namespace escrow::engine

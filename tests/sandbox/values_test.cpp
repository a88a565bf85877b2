#include <algorithm>

#include "sandbox/bwrap_args.h"
#include "sandbox/dns_message.h"
#include "sandbox/egress_rules.h"
#include "sandbox/guest_env.h"
#include "sandbox/output_capture.h"
#include "sandbox/path_pattern.h"
#include "sandbox/protected_paths.h"
#include "sandbox/proxy_request.h"
#include "sandbox/refused_targets.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/socks_request.h"
#include "sandbox/tls_hello.h"
#include "tests/catch.h"

// The pure parts: values in, values out.

using namespace escrow::sandbox;
using Strings = std::vector<std::string>;

TEST_CASE("the arguments of bubblewrap, whole and in order") {
  Profile profile;
  profile.workspace = "/home/me/project";
  HostFacts facts;
  facts.scaffold = "/sys";
  facts.roots = {{"/usr", ""}, {"/bin", "usr/bin"}, {"/etc", ""}};
  facts.blank_files = {"/etc/shadow"};
  facts.blank_directories = {"/etc/ssl/private"};
  facts.resolv_conf = "/run/resolve/stub.conf";
  facts.proc_read_only = {"/proc/sys"};
  facts.home = "/home/me";
  facts.home_overlays = {"/home/me/.cargo", "/home/me/go"};
  facts.read_only = {"/srv/git"};
  facts.tmp_bytes = 4096;
  CHECK(bwrap_args(profile, facts) == Strings{"--unshare-user",
                                              "--unshare-pid",
                                              "--unshare-ipc",
                                              "--unshare-uts",
                                              "--unshare-cgroup-try",
                                              "--disable-userns",
                                              "--new-session",
                                              "--die-with-parent",
                                              "--as-pid-1",
                                              "--clearenv",
                                              "--cap-drop",
                                              "ALL",
                                              "--hostname",
                                              "escrow",
                                              "--seccomp",
                                              "65",
                                              "--ro-bind",
                                              "/usr",
                                              "/usr",
                                              "--symlink",
                                              "usr/bin",
                                              "/bin",
                                              "--ro-bind",
                                              "/etc",
                                              "/etc",
                                              "--ro-bind",
                                              "/sys/blank",
                                              "/etc/shadow",
                                              "--ro-bind",
                                              "/sys/blank.d",
                                              "/etc/ssl/private",
                                              "--ro-bind",
                                              "/sys/resolv.conf",
                                              "/run/resolve/stub.conf",
                                              "--dev",
                                              "/dev",
                                              "--perms",
                                              "1777",
                                              "--size",
                                              "1024",
                                              "--tmpfs",
                                              "/dev/shm",
                                              "--remount-ro",
                                              "/dev",
                                              "--proc",
                                              "/proc",
                                              "--ro-bind",
                                              "/proc/sys",
                                              "/proc/sys",
                                              "--perms",
                                              "1777",
                                              "--size",
                                              "4096",
                                              "--tmpfs",
                                              "/tmp",
                                              "--symlink",
                                              "../tmp",
                                              "/var/tmp",
                                              "--perms",
                                              "0700",
                                              "--size",
                                              "2048",
                                              "--tmpfs",
                                              "/home/me",
                                              "--bind",
                                              "/sys/home/0",
                                              "/home/me/.cargo",
                                              "--bind",
                                              "/sys/home/1",
                                              "/home/me/go",
                                              "--ro-bind",
                                              "/srv/git",
                                              "/srv/git",
                                              "--bind",
                                              "/sys/m",
                                              "/home/me/project",
                                              "--ro-bind",
                                              "/sys/runner",
                                              "/run/escrow/runner",
                                              "--remount-ro",
                                              "/",
                                              "--chdir",
                                              "/"});
}

TEST_CASE("without a home or a resolver their arguments are absent") {
  Profile profile;
  profile.workspace = "/w";
  HostFacts facts;
  facts.scaffold = "/mnt";
  const Strings args = bwrap_args(profile, facts);
  for (const std::string& arg : args) CHECK(arg.find("resolv") == std::string::npos);
  CHECK(std::find(args.begin(), args.end(), "0700") == args.end());
}

TEST_CASE("the guest's environment is an allow-list, what the cage sets, and the command's delta") {
  Profile profile;
  profile.workspace = "/w";
  profile.env_allow = {"DATABASE_HOST"};
  const Environment host = {{"PATH", "/bin"},        {"LC_ALL", "C"},     {"TERM", "xterm"},
                            {"SECRET_TOKEN", "x"},   {"LD_PRELOAD", "x"}, {"HTTP_PROXY", "http://corp"},
                            {"SSH_AUTH_SOCK", "/x"}, {"HOME", "/root"},   {"DATABASE_HOST", "db"}};
  const GuestIdentity guest{.uid = 1, .gid = 1, .name = "me", .home = "/home/me"};
  const Command command{.argv = {"x"}, .env = {{"MODE", "test"}, {"TERM", "dumb"}}};
  CHECK(guest_env(host, guest, profile, command) ==
        Strings{"ALL_PROXY=http://127.0.0.1:3128",
                "ASAN_OPTIONS=detect_leaks=0",
                "CARGO_NET_RETRY=0",
                "DATABASE_HOST=db",
                "ESCROW=1",
                "GIT_CONFIG_COUNT=3",
                "GIT_CONFIG_KEY_0=core.fsmonitor",
                "GIT_CONFIG_KEY_1=core.pager",
                "GIT_CONFIG_KEY_2=safe.directory",
                "GIT_CONFIG_VALUE_0=false",
                "GIT_CONFIG_VALUE_1=cat",
                "GIT_CONFIG_VALUE_2=/w",
                "GIT_SSH_COMMAND=ssh -o 'ProxyCommand=/run/escrow/runner --connect %h %p'",
                "GIT_TERMINAL_PROMPT=0",
                "HOME=/home/me",
                "HTTPS_PROXY=http://127.0.0.1:3128",
                "HTTP_PROXY=http://127.0.0.1:3128",
                "LC_ALL=C",
                "LOGNAME=me",
                "MODE=test",
                "NODE_USE_ENV_PROXY=1",
                "NO_PROXY=localhost,127.0.0.1,::1",
                "PATH=/bin",
                "PIP_RETRIES=0",
                "SHELL=/bin/sh",
                "TERM=dumb",
                "TMPDIR=/tmp",
                "USER=me",
                "all_proxy=http://127.0.0.1:3128",
                "http_proxy=http://127.0.0.1:3128",
                "https_proxy=http://127.0.0.1:3128",
                "no_proxy=localhost,127.0.0.1,::1",
                "npm_config_fetch_retries=0",
                "npm_config_https_proxy=http://127.0.0.1:3128",
                "npm_config_proxy=http://127.0.0.1:3128"});
}

TEST_CASE("globs match as documented") {
  struct Row {
    const char* pattern;
    const char* path;
    bool matches;
  };
  for (const Row& row : {Row{"*.pem", "a/b/c.pem", true},
                         {"*.pem", "a/b/c.pem.txt", false},
                         {"data/*.csv", "data/x.csv", true},
                         {"data/*.csv", "my/data/x.csv", true},
                         {"data/*.csv", "mydata/x.csv", false},
                         {"data/*.csv", "data/a/x.csv", false},
                         {"/data/*.csv", "my/data/x.csv", false},
                         {"data/**/x", "data/a/b/x", true},
                         {"data/**/x", "data/x", true},
                         {"**", "anything/at/all", true},
                         {"id_?sa", "id_rsa", true},
                         {"[a-c]x", "bx", true},
                         {"[!a-c]x", "bx", false},
                         {"[a", "[a", true},
                         {"\\*", "*", true},
                         {"\\*", "x", false},
                         {"a*b*c", "aXbYc", true},
                         {"a*b*c", "aXbY", false},
                         {"", "", true},
                         {"*", "", true}}) {
    INFO(row.pattern << " on " << row.path);
    CHECK(matches_glob(row.pattern, row.path) == row.matches);
  }
}

TEST_CASE("a pattern made to be slow is not") {
  const std::string text(20000, 'a');
  CHECK_FALSE(matches_glob("*a*a*a*a*a*a*a*a*b", text));
  CHECK_FALSE(matches_glob("**a**a**a**a**b", text));
}

TEST_CASE("what is secret by name") {
  for (const char* path : {".env", ".env.local", "a/.ENV.production", "id_rsa", "keys/id_ed25519", "x.p12",
                           "terraform.tfstate", "terraform.tfstate.backup", "a/.aws", ".kube/config",
                           "home/.docker/config.json", "service-account-1.json", ".netrc"})
    CHECK(secrecy_of(path) == Secrecy::masked);
  for (const char* path : {".env.example", "a/.env.sample", "id_rsa.pub", "environment.ts", "config.json",
                           "kube/config", "main.c", "package.json"})
    CHECK(secrecy_of(path) == Secrecy::open);
  for (const char* path : {"a.pem", "tls.key", ".npmrc"}) CHECK(secrecy_of(path) == Secrecy::look_inside);
}

TEST_CASE("protected paths are found at any depth and in any spelling") {
  for (const char* path : {".git/hooks/pre-commit", "sub/.git/config", ".GIT/Config", ".vscode/settings.json",
                           "a/CLAUDE.md", ".git./hooks", ".husky", ".git/modules/x/y/hooks", ".bashrc"}) {
    INFO(path);
    const std::string text = path;
    // Itself, or a directory above it.
    bool found = false;
    for (std::size_t end = text.find('/'); !found; end = text.find('/', end + 1)) {
      found = is_protected(text.substr(0, end));
      if (end == std::string::npos) break;
    }
    CHECK(found);
  }
  for (const char* path : {"git/hooks", ".github/workflows/ci.yml", ".gitignore", "src/config", ".git/index"})
    CHECK_FALSE(is_protected(path));
}

TEST_CASE("hosts have one spelling, and what resolvers read in two ways has none") {
  CHECK(canonical_host("Example.COM") == "example.com");
  CHECK(canonical_host("[2001:DB8::0:1]") == "2001:db8::1");
  CHECK(canonical_host("192.0.2.1") == "192.0.2.1");
  for (const char* host : {"",
                           ".",
                           "a..b",
                           "example.com.",
                           "2130706433",
                           "0x7f.1",
                           "127.1",
                           "0177.0.0.1",
                           "192.0.2.1.",
                           "0x7f000001",
                           "017700000001",
                           "1",
                           "ex\xc3\xa4mple.com",
                           "a b",
                           "a@b",
                           "a/b",
                           "-a.b",
                           "%41.b",
                           "fe80::1%lo",
                           "[::1"})
    CHECK_FALSE(canonical_host(host));
  CHECK_FALSE(canonical_host(std::string("a.b\0.c", 6)));
  CHECK(parse_host_port("a.b:443") == HostPort{"a.b", 443});
  for (const char* text : {"a.b", "a.b:", "a.b:0", "a.b:65536", "a.b:08", "a.b:443x", "::1:443", "a:b:443"})
    CHECK_FALSE(parse_host_port(text));
}

TEST_CASE("egress rules allow exactly what they name") {
  const EgressRules rules({"api.example.test", "git.example.test:22", "*.cdn.example.test", "*", "*.test", "bad host",
                           "x.example.test:99999"});
  for (const HostPort& target : {HostPort{"api.example.test", 443},
                                 {"api.example.test", 80},
                                 {"git.example.test", 22},
                                 {"a.cdn.example.test", 443},
                                 {"a.b.cdn.example.test", 443}})
    CHECK(rules.allows(target));
  for (const HostPort& target : {HostPort{"api.example.test", 22},
                                 {"git.example.test", 443},
                                 {"cdn.example.test", 443},
                                 {"evilcdn.example.test", 443},
                                 {"other.test", 443},
                                 {"api.example.test.evil.test", 443},
                                 {"x.example.test", 443},
                                 {"xn--pypal-4ve.cdn.example.test", 443},
                                 {"a.xn--pypal-4ve.cdn.example.test", 443},
                                 {"", 443}})
    CHECK_FALSE(rules.allows(target));
  CHECK_FALSE(EgressRules({}).allows({"api.example.test", 443}));
}

TEST_CASE("addresses that are not of the public internet are told apart") {
  using V4 = std::array<std::uint8_t, 4>;
  for (const V4& address : {V4{127, 0, 0, 1},
                            {10, 1, 2, 3},
                            {172, 16, 0, 1},
                            {172, 31, 255, 255},
                            {192, 168, 1, 1},
                            {169, 254, 169, 254},
                            {100, 64, 0, 1},
                            {0, 0, 0, 0},
                            {224, 0, 0, 1},
                            {255, 255, 255, 255}})
    CHECK_FALSE(is_public_address(address));
  for (const V4& address : {V4{1, 1, 1, 1}, {172, 32, 0, 1}, {100, 128, 0, 1}, {193, 0, 0, 1}})
    CHECK(is_public_address(address));
  using V6 = std::array<std::uint8_t, 16>;
  CHECK(is_public_address(V6{0x2a, 0x00, 0x14}));
  CHECK_FALSE(is_public_address(V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  CHECK_FALSE(is_public_address(V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}));
  CHECK_FALSE(is_public_address(V6{0xfe, 0x80}));
  CHECK_FALSE(is_public_address(V6{0xfd}));
  CHECK_FALSE(is_public_address(V6{0x20, 0x02, 127, 0, 0, 1}));
}

TEST_CASE("requests to the proxy are read in one way or not at all") {
  const auto connect = parse_proxy_request("CONNECT A.example.test:443 HTTP/1.1\r\nHost: whatever\r\n\r\n");
  REQUIRE(connect);
  CHECK(connect->tunnel);
  CHECK(connect->target == HostPort{"a.example.test", 443});
  const auto get = parse_proxy_request(
      "GET http://a.example.test/x?y HTTP/1.1\r\nHost: a.example.test\r\nProxy-Authorization: z\r\nAccept: "
      "*/*\r\nContent-Length: 3\r\n\r\n");
  REQUIRE(get);
  CHECK(get->forward ==
        "GET /x?y HTTP/1.1\r\nHost: a.example.test\r\nAccept: */*\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
  CHECK(get->body_bytes == 3);
  for (const char* head :
       {"", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET http://a.b/ HTTP/1.1\n\n", "GET http://a.b/ HTTP/2\r\n\r\n",
        "CONNECT a.b HTTP/1.1\r\n\r\n", "GET http://u@a.b/ HTTP/1.1\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\nHost: c.d\r\n\r\n", "GET http://a.b/ HTTP/1.1\r\nHost : a.b\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\nX: y\r\n z\r\n\r\n", "GET https://a.b/ HTTP/1.1\r\n\r\n",
        "GET http://a.b\\@c.d/ HTTP/1.1\r\n\r\n", "GET http://a.b/ HTTP/1.1\r\n\r\nmore"}) {
    INFO(head);
    CHECK_FALSE(parse_proxy_request(head));
  }
}

namespace {

using namespace std::string_literals;

std::string with_length(std::size_t width, const std::string& body) {
  std::string bytes;
  for (std::size_t i = width; i-- > 0;) bytes.push_back(static_cast<char>(body.size() >> (8 * i)));
  return bytes + body;
}

std::string name_extension(const std::string& name) {
  return "\0\0"s + with_length(2, with_length(2, "\0"s + with_length(2, name)));
}

/// A ClientHello with these extensions, in records of at most `piece` bytes.
std::string client_hello(const std::string& extensions, std::size_t piece = 16384) {
  const std::string body = "\x03\x03" + std::string(32, 'r') + with_length(1, "") + with_length(2, "\x13\x01") +
                           with_length(1, "\0"s) + with_length(2, extensions);
  const std::string message = "\x01" + with_length(3, body);
  std::string records;
  for (std::size_t at = 0; at < message.size(); at += piece)
    records += "\x16\x03\x01" + with_length(2, message.substr(at, piece));
  return records;
}

}  // namespace

TEST_CASE("the host of a TLS hello is read, in however many records it comes") {
  using State = TlsHello::State;
  const std::string padding = "\0\x15"s + with_length(2, std::string(300, '\0'));
  for (std::size_t piece : {1, 3, 50, 16384})
    CHECK(read_tls_hello(client_hello(padding + name_extension("Api.Example.TEST"), piece)) ==
          TlsHello{State::complete, "api.example.test"});
  CHECK(read_tls_hello(client_hello(padding)) == TlsHello{State::complete, ""});
  const std::string whole = client_hello(name_extension("a.test"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(read_tls_hello(whole.substr(0, size)).state == State::incomplete);
  for (const std::string& text : {"GET / HTTP/1.1"s, "SSH-2.0-x"s, "\x15\x03\x01\0\x02\x01\0"s, "\x16\x02"s})
    CHECK(read_tls_hello(text).state == State::not_tls);
  for (const std::string& text :
       {client_hello(name_extension("a.test") + name_extension("b.test")), client_hello(name_extension("")),
        client_hello("\0\0"s + with_length(2, with_length(2, "\0"s + with_length(2, "a.test") + "\0"s +
                                                                 with_length(2, "b.test")))),
        client_hello("\0\0\xff\xff"s), "\x16\x03\x01\0\0"s, "\x16\x03\x01\0\x04\x02\0\0\0"s,
        "\x16\x03\x01\0\x04\x01\xff\xff\xff"s})
    CHECK(read_tls_hello(text).state != State::complete);
}

TEST_CASE("SOCKS requests are read in one way or not at all") {
  CHECK(socks_greeting_size("\x05") == 2);
  CHECK(socks_greeting_size("\x05\x02"s) == 4);
  CHECK(offers_no_authentication("\x05\x02\x02\0"s));
  CHECK_FALSE(offers_no_authentication("\x05\x01\x02"s));
  CHECK_FALSE(offers_no_authentication("\x04\x01\0"s));
  const auto by_name = [](const std::string& name) { return "\x05\x01\0\x03"s + with_length(1, name) + "\x01\xbb"; };
  CHECK(parse_socks_request(by_name("A.test")) == HostPort{"a.test", 443});
  CHECK(parse_socks_request("\x05\x01\0\x01\xc0\0\x02\x07\0\x50"s) == HostPort{"192.0.2.7", 80});
  CHECK(parse_socks_request("\x05\x01\0\x04\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01\0\x50"s) ==
        HostPort{"2001:db8::1", 80});
  for (const std::string& request :
       {by_name("a.test").substr(0, 8), by_name("a.test") + "x", by_name(""), by_name("a.test."), by_name("u@a.test"),
        by_name("evil.test\0.a.test"s), by_name("2130706433"), by_name("0x7f.1"), "\x05\x02\0\x01\xc0\0\x02\x07\0\x50"s,
        "\x04\x01\0\x01\xc0\0\x02\x07\0\x50"s, "\x05\x01\x01\x01\xc0\0\x02\x07\0\x50"s, "\x05\x01\0\x05\xc0"s,
        "\x05\x01\0\x01\xc0\0\x02\x07\0\0"s, ""s})
    CHECK_FALSE(parse_socks_request(request));
}

TEST_CASE("DNS questions are read and answered") {
  const std::string query(
      "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03Www\x07"
      "example\x04test\x00\x00\x01\x00\x01",
      34);
  const auto question = parse_dns_query(query);
  REQUIRE(question);
  CHECK(question->name == "www.example.test");
  CHECK(question->type == kDnsA);
  const std::string none = dns_no_such_name(*question);
  CHECK(none.substr(0, 4) == std::string("\x12\x34\x81\x83", 4));
  const std::string answer = dns_answer(*question, std::array<std::uint8_t, 4>{127, 64, 0, 1});
  CHECK(answer.ends_with(std::string("\x00\x04\x7f\x40\x00\x01", 6)));
  for (std::size_t length = 0; length < query.size(); ++length) CHECK_FALSE(parse_dns_query(query.substr(0, length)));
}

TEST_CASE("refused targets are listed once, ports winning over bare names") {
  RefusedTargets refused;
  refused.add_name("a.test");
  refused.add_name("localhost");
  refused.add_name("1.0.0.127.in-addr.arpa");
  refused.add("b.test", 443);
  refused.add("a.test", 443);
  refused.add("a.test", 443);
  refused.add_name("a.test");
  refused.add("::1", 80);
  CHECK(refused.list() == Strings{"a.test:443", "b.test:443", "[::1]:80"});
  for (int i = 0; i < 1000; ++i) refused.add("h" + std::to_string(i) + ".test", 1);
  CHECK(refused.list().size() == 64);
}

TEST_CASE("output keeps its head and tail whatever the pieces") {
  for (std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{100}}) {
    std::string all;
    for (int i = 0; i < 100; ++i) all += std::to_string(i) + ",";
    OutputCapture capture(10);
    for (std::size_t at = 0; at < all.size(); at += piece) capture.append(std::string_view(all).substr(at, piece));
    CHECK(capture.take() == Captured{"0,1,2", "8,99,", all.size(), all.size() - 10});
  }
}

TEST_CASE("messages come back as they were, and every shortened one is refused") {
  LaunchRequest launch{.bwrap = "/b",
                       .bwrap_args = {"--x", std::string("a\0b", 3)},
                       .runner = "/r",
                       .scaffold = "/sys",
                       .uid = 7,
                       .gid = 8,
                       .homes = {{"/h/.cargo", {"credentials"}}}};
  RunRequest run;
  run.mount.workspace = "/w";
  run.mount.writable = Writable::direct;
  run.mount.unsaved = {{"a", "b"}};
  run.execute.argv = {"x", ""};
  run.execute.pty = PtySize{1, 2};
  run.execute.limits.pids = 9;
  const ExitedReport exited{.wait_status = 256, .cpu_us = 5, .max_rss_kib = 6, .limit = "memory"};
  CHECK(decode_launch(encode(launch)) == launch);
  CHECK(decode_run(encode(run)) == run);
  CHECK(decode_exited(encode(exited)) == exited);
  CHECK(decode_error(encode(Error{ErrorKind::unavailable, "no"})) == Error{ErrorKind::unavailable, "no"});
  const std::string launch_bytes = encode(launch), run_bytes = encode(run);
  for (std::size_t i = 0; i < launch_bytes.size(); ++i) CHECK_FALSE(decode_launch(launch_bytes.substr(0, i)));
  for (std::size_t i = 0; i < run_bytes.size(); ++i) CHECK_FALSE(decode_run(run_bytes.substr(0, i)));
  CHECK_FALSE(decode_run(run_bytes + "x"));
}

TEST_CASE("the filter compiles for both kinds of guest, and every denied call says why") {
  const Result<std::string>& plain = seccomp_program(Tracing::denied);
  const Result<std::string>& debug = seccomp_program(Tracing::allowed);
  REQUIRE(plain.has_value());
  REQUIRE(debug.has_value());
  CHECK(plain->size() % 8 == 0);
  CHECK(*plain != *debug);
  for (const DeniedCall& call : denied_calls()) CHECK_FALSE(call.reason.empty());
}

#include "sandbox/proxy_request.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "sandbox/ascii.h"

namespace escrow::sandbox {
namespace {

struct HeaderField {
  std::string name;  // lower case
  std::string_view line, value;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && std::string_view("\"(),/:;<=>?@[\\]{}").find(c) == std::string_view::npos;
  });
}

bool is_clean(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\t' || static_cast<unsigned char>(c) >= ' '; });
}

/// The lines before the empty one; nothing if one does not end in CR LF or holds a control byte.
std::optional<std::vector<std::string_view>> lines_of(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos || !is_clean(head.substr(0, end))) return std::nullopt;
    if (end == 0) return head.size() == 2 ? std::optional(lines) : std::nullopt;
    lines.push_back(head.substr(0, end));
    head.remove_prefix(end + 2);
  }
  return std::nullopt;
}

std::optional<std::vector<HeaderField>> headers_of(const std::vector<std::string_view>& lines) {
  std::vector<HeaderField> headers;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].find(':');
    if (colon == std::string_view::npos || !is_token(lines[i].substr(0, colon))) return std::nullopt;
    headers.push_back({lowered(lines[i].substr(0, colon)), lines[i], trimmed(lines[i].substr(colon + 1))});
  }
  return headers;
}

struct RequestLine {
  std::string_view method, target;
};

std::optional<RequestLine> request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const RequestLine request{line.substr(0, first), line.substr(first + 1, last - first - 1)};
  const std::string_view version = line.substr(last + 1);
  if ((version != "HTTP/1.1" && version != "HTTP/1.0") || !is_token(request.method)) return std::nullopt;
  if (request.target.find_first_of(" \t\\#") != std::string_view::npos) return std::nullopt;
  return request;
}

/// `http://host[:port]/path` into the two parts that matter.
struct AbsoluteTarget {
  HostPort host;
  std::string path;
};

std::optional<AbsoluteTarget> absolute_target(std::string_view text) {
  constexpr std::string_view scheme = "http://";
  if (lowered(text.substr(0, scheme.size())) != scheme) return std::nullopt;
  text.remove_prefix(scheme.size());
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  std::string authority(text.substr(0, end));
  const bool port = authority.ends_with(']') ? false : authority.find(':') != std::string::npos;
  const std::optional<HostPort> host = parse_host_port(port ? authority : authority + ":80");
  if (!host) return std::nullopt;  // user information contains '@', which no host does
  const std::string_view rest = text.substr(end);
  return AbsoluteTarget{*host, rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest)};
}

bool is_hop_by_hop(const std::string& name) {
  return name.starts_with("proxy-") || name == "connection" || name == "keep-alive" || name == "te" ||
         name == "upgrade" || name == "host";
}

std::optional<std::uint64_t> body_length(const std::vector<HeaderField>& headers) {
  std::optional<std::uint64_t> length;
  for (const HeaderField& header : headers) {
    if (header.name == "transfer-encoding") return std::nullopt;
    if (header.name != "content-length") continue;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(header.value.data(), header.value.data() + header.value.size(), value);
    if (length || header.value.empty() || error != std::errc() || end != header.value.data() + header.value.size())
      return std::nullopt;
    length = value;
  }
  return length.value_or(0);
}

bool hosts_match(const std::vector<HeaderField>& headers, const HostPort& target) {
  for (const HeaderField& header : headers) {
    if (header.name != "host") continue;
    const bool port = !header.value.ends_with(']') && header.value.find(':') != std::string_view::npos;
    const std::string text = std::string(header.value) + (port ? "" : ":" + std::to_string(target.port));
    if (parse_host_port(text) != target) return false;
  }
  return true;
}

std::string forwarded(std::string_view method, const AbsoluteTarget& target, const std::vector<HeaderField>& headers) {
  std::string head = std::string(method) + " " + target.path + " HTTP/1.1\r\nHost: ";
  const std::string host = to_string(target.host);
  head += target.host.port == 80 ? host.substr(0, host.size() - 3) : host;
  for (const HeaderField& header : headers)
    if (!is_hop_by_hop(header.name)) head.append("\r\n").append(header.line);
  // One request a connection: a second one might name another host.
  return head + "\r\nConnection: close\r\n\r\n";
}

}  // namespace

std::optional<ProxyRequest> parse_proxy_request(std::string_view head) {
  const auto lines = lines_of(head);
  if (head.size() > kMaxProxyHead || !lines || lines->empty()) return std::nullopt;
  const std::optional<RequestLine> line = request_line(lines->front());
  const auto headers = headers_of(*lines);
  if (!line || !headers) return std::nullopt;
  if (line->method == "CONNECT") {
    const std::optional<HostPort> target = parse_host_port(line->target);
    if (!target) return std::nullopt;
    return ProxyRequest{.tunnel = true, .target = *target, .forward = {}, .body_bytes = 0};
  }
  const std::optional<AbsoluteTarget> target = absolute_target(line->target);
  const std::optional<std::uint64_t> body = body_length(*headers);
  if (!target || !body || !hosts_match(*headers, target->host)) return std::nullopt;
  return ProxyRequest{.tunnel = false,
                      .target = target->host,
                      .forward = forwarded(line->method, *target, *headers),
                      .body_bytes = *body};
}

}  // namespace escrow::sandbox

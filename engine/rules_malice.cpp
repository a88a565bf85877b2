#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/rules.h"
#include "engine/text.h"

// Malice takes several lines as often as one: a download here and a `chmod +x` there, a socket and a shell, an
// environment read and a request. The patterns see what stands on one line; the functions below what stands in one
// hunk or file.

namespace escrow::engine {
namespace {

constexpr FileRoles kMaliceText = kSource | kConfig | kScript | kWorkflow | kContainer | kAgent | kManifest;

constexpr LinePattern
    kMalicePatterns[] =
        {
            // Downloaded text that is executed.
            {"remote-script",
             {"curl", "wget", "fetch", "http", "aria2c"},
             R"re(\b(?:curl|wget|fetch|aria2c|http)\b[^|;]*\|\s*(?:tee\s+\S+\s*\|\s*)?(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+(?:\S+=\S+\s+)*)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k|a)?sh|python[\d.]*|perl|ruby|node|php|pwsh|bun|deno)\b)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"remote-script",
             {"curl", "wget"},
             R"re((?:\b(?:ba|z|da)?sh|\bsource|(?:^|\s)\.|\bpython[\d.]*|\bnode|\bruby|\bperl)\s+(?:-\S+\s+)*<\(\s*(?:curl|wget)\b|\b(?:(?:ba|z|da)?sh\s+-l?c|eval|python[\d.]*\s+-c)\s+["']?(?:\$\(|`)\s*(?:curl|wget)\b)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"remote-script",
             {"curl", "wget"},
             R"re(\b(?:curl|wget)\b[^;&|]*(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|[0-7]*[157][0-7]*|a\+x|u\+x|755|777)\s+\S+\s*(?:&&|;)|(?:ba|z|da)?sh\s+\S|\./\S|python[\d.]*\s+\S|source\s|\.\s|/tmp/\S))re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"remote-script",
             {"downloadstring", "invoke-restmethod", "invoke-webrequest", "irm", "iwr", "start-bitstransfer",
              "downloadfile"},
             R"re((?i)(?:\biex\b|\bInvoke-Expression\b).*(?:DownloadString|Invoke-RestMethod|Invoke-WebRequest|\birm\b|\biwr\b|Net\.WebClient)|(?:DownloadString\s*\([^)]*\)|\b(?:irm|iwr|Invoke-RestMethod|Invoke-WebRequest)\b[^|;]*)\s*\|\s*(?:iex|Invoke-Expression)\b)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"remote-script",
             {"exec(", "eval("},
             R"re(\b(?:exec|eval)\s*\(\s*(?:compile\s*\(\s*)?(?:requests|urllib|urlopen|httpx|urllib2|urllib\.request)[\w.]*\s*[.(])re",
             Where::code,
             bit(Language::python),
             kSource},
            {"remote-script",
             {"eval(", "function("},
             R"re(\b(?:eval|Function)\s*\(\s*(?:await\s*\(?\s*)+(?:fetch|axios|got)\b|\bthen\s*\(\s*eval\s*\)|\.then\(\s*\(?(\w+)\)?\s*=>\s*(?:eval|new\s+Function)\s*\()re",
             Where::code,
             bit(Language::javascript),
             kSource},
            {"remote-script",
             {"eval", "include"},
             R"re(\b(?:eval|include|require|assert)\s*\(?\s*(?:["']\?>["']\s*\.\s*)?(?:file_get_contents\s*\(\s*)?["']https?://|\beval\s*\(\s*file_get_contents)re",
             Where::code,
             bit(Language::php),
             kSource},
            {"remote-script",
             {"uri.open", "open(", "net::http"},
             R"re(\b(?:eval|instance_eval|system|exec)\b[\s(]+(?:URI\.open|URI\.parse|Net::HTTP|open\s*\(\s*["']https?:))re",
             Where::code,
             bit(Language::ruby),
             kSource},
            {"remote-script",
             {"deno run", "npx http", "go run http", "bun run http", "python -m http", "pip install http", "mshta",
              "regsvr32", "certutil"},
             R"re(\b(?:deno|bun)\s+run\s+(?:-\S+\s+)*https?://|\bmshta\s+https?:|\bregsvr32\s.*https?:|\bcertutil\s.*-urlcache)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},

            // A shell for the network.
            {"reverse-shell",
             {"/dev/tcp/", "/dev/udp/"},
             R"re(/dev/(?:tcp|udp)/)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"reverse-shell",
             {"nc ", "ncat", "netcat", "nc.exe", "socat"},
             R"re(\b(?:nc|ncat|netcat|nc\.traditional|nc\.exe)\s+[^;&|]*(?:-[a-z]*[ec]\s*["']?(?:/bin/|cmd|powershell|bash|sh)\S*|--(?:exec|sh-exec)\b)|\bsocat\b[^;&|]*\b(?:EXEC|exec|SYSTEM|system):)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"reverse-shell",
             {"/inet/tcp/", "/inet/udp/", "telnet", "s_client", "xterm"},
             R"re(/inet/(?:tcp|udp)/\d*/[^/\s"']+/\d|\btelnet\s[^|;]*\|\s*(?:/bin/)?(?:ba|z|da)?sh\b|(?:/bin/)?(?:ba|z|da)?sh\b[^|;]*\|\s*(?:telnet|openssl\s+s_client)\s|\bxterm\s+(?:-\w+\s+)*-display\s+[\w.-]+:\d)re",
             Where::any,
             kAnyLanguage,
             kMaliceText},
            {"reverse-shell",
             {"mkfifo", "mknod"},
             R"re(\bmk(?:fifo|nod)\b.*\b(?:sh|bash)\b.*\b(?:nc|ncat|netcat|openssl|telnet)\b)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"reverse-shell",
             {"bash -i", "sh -i", "zsh -i"},
             R"re(\b(?:ba|z)?sh\s+-i\s*(?:>|<|[0-9]>)?\s*&?\s*>?&?\s*/dev/|\b(?:ba|z)?sh\s+-i\s+.*(?:\bnc\b|>&\s*\d))re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"reverse-shell",
             {"fsockopen", "tcpsocket", "io.popen"},
             R"re(\bfsockopen\s*\(.*\b(?:exec|shell_exec|proc_open|system)\s*\(|\bTCPSocket\.(?:new|open)\b.*\b(?:exec|popen|spawn)\b)re",
             Where::any,
             kAnyLanguage,
             kMaliceText},
            {"reverse-shell",
             {"socket", "perl"},
             R"re(\bperl\s+-\S*e\b.*\bsocket\s*\(.*\bexec\b|\bpython[\d.]*\s+-c\b.*\bsocket\b.*(?:\bdup2\b|\bpty\b|subprocess))re",
             Where::any,
             kAnyLanguage,
             kMaliceText},

            // Decoded and executed.
            {"obfuscated-payload",
             {"eval", "exec", "function", "assert", "loads"},
             R"re(\b(?:eval|exec|execScript|Function|assert|setTimeout|instance_eval|class_eval|loadstring|marshal\.loads)\s*\(\s*(?:\w+\s*\(\s*)?[^;]{0,80}(?:\bb64decode|base64\.\w*decode|base64_decode|\batob\s*\(|fromCharCode|unhexlify|bytes\.fromhex|codecs\.decode|zlib\.decompress|gzip\.decompress|gzinflate|gzuncompress|str_rot13|rot13|hex2bin|Buffer\.from\s*\([^)]*(?:base64|hex)|Base64\.(?:decode64|strict_decode64|getDecoder)|\.pack\(|unescape\s*\(|decodeURIComponent\s*\(|["'`]{2}\.join|\bchr\s*\(|map\(\s*chr|\bbyte(?:s|array)\s*\(\s*\[\s*\d))re",
             Where::code,
             kAnyLanguage,
             kSource},
            {"obfuscated-payload",
             {"base64", "xxd", "openssl", "gunzip", "rev"},
             R"re((?:\bbase64\s+(?:-d|--decode|-D)\b|\bxxd\s+-r\b|\bopenssl\s+(?:enc|base64)\s[^|]*-d\b)[^|]*\|\s*(?:gunzip\s*(?:-c)?\s*\|\s*)?(?:sudo\s+)?(?:(?:ba|z|da)?sh|python[\d.]*|perl|node)\b|\b(?:eval|(?:ba|z)?sh\s+-c)\s+["']?(?:\$\(|`)[^)]*(?:base64\s+(?:-d|--decode|-D)|xxd\s+-r))re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"obfuscated-payload",
             {"-enc", "-e ", "frombase64string"},
             R"re((?i)\b(?:powershell|pwsh)(?:\.exe)?\b.*\s-e(?:nc|ncodedcommand|c)?\s+["']?[A-Za-z0-9+/=]{20,}|(?:\biex\b|Invoke-Expression|Assembly\]::Load).*FromBase64String|FromBase64String.*(?:\|\s*iex|Assembly\]?(?:::|\.)Load))re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"obfuscated-payload",
             {"getattr", "__import__", "builtins", "globals()"},
             R"re(\b(?:getattr|globals\(\)|vars\([^)]*\)|__builtins__|__dict__)\s*[\[(][^\])]*["']\w{1,12}["']\s*\+\s*["']\w{1,12}["'])re",
             Where::code,
             bit(Language::python),
             kSource,
             60},
            {"obfuscated-payload",
             {"window[", "globalthis[", "global[", "this["},
             R"re(\b(?:window|globalThis|global|self|this)\s*\[\s*(?:["'`]\w{1,12}["'`]\s*\+\s*["'`]|atob\s*\(|String\.fromCharCode))re",
             Where::code,
             bit(Language::javascript),
             kSource,
             60},
            {"obfuscated-payload",
             {"virtualalloc", "createremotethread", "rundll32", "shellcode"},
             R"re(\bVirtualAlloc(?:Ex)?\b|\bCreateRemoteThread\b)re",
             Where::code,
             kAnyLanguage,
             kSource,
             60,
             kPlain,
             "writes and runs machine code in memory"},

            // Private data sent out, on one line.
            {"data-exfiltration",
             {"env", "printenv", "cat ", "tar ", "history"},
             R"re((?:\b(?:env|printenv|set|history)\b|\bcat\s+[^|]*(?:\.ssh|\.aws|\.env\b|\.netrc|\.npmrc|\.kube|id_rsa|id_ed25519|credentials|/etc/(?:passwd|shadow)|\.gnupg|\.git-credentials)\S*|\btar\s+[^|]*c[^|]*(?:~|\$HOME|\.ssh|\.aws|/etc)[^|]*)\s*(?:\|[^|]*)*\|\s*(?:curl|wget|nc|ncat|http|openssl\s+s_client|socat|ssh|mail|sendmail)\b)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"data-exfiltration",
             {"curl", "wget", "scp", "rsync", "http"},
             R"re(\bcurl\b[^;&|]*(?:-d|--data(?:-binary|-raw|-urlencode)?|-F|--form|-T|--upload-file)[= ]?\s*["']?(?:\w+=)?[@<]?\s*["']?[^\s"']*(?:\.ssh|\.aws|\.env\b|\.netrc|\.npmrc|\.kube|id_rsa|id_ed25519|/credentials|/etc/(?:passwd|shadow)|\.gnupg|\.git-credentials|\.docker/config|\.bash_history)|\b(?:curl|wget)\b[^;&|]*(?:\$\(|`)\s*(?:env|printenv|cat\s|base64\s|history|whoami|hostname)|\bwget\b[^;&|]*--post-(?:file|data)[= ]\S*(?:\.ssh|\.aws|\.env|passwd|\$\()|\b(?:scp|rsync)\b[^;&|]*(?:\.ssh|\.aws|id_rsa|\.gnupg|\.kube)\S*\s+\S*:)re",
             Where::text,
             kAnyLanguage,
             kMaliceText},
            {"data-exfiltration",
             {"document.cookie", "localstorage", "sessionstorage"},
             R"re((?:fetch|sendBeacon|XMLHttpRequest|\.src\s*=|axios|\.open\s*\(|location(?:\.href)?\s*=|WebSocket)[^;]{0,200}(?:document\.cookie|JSON\.stringify\(\s*(?:localStorage|sessionStorage))|["'`]https?:[^"'`]*["'`]\s*\+\s*(?:\w+\()*document\.cookie)re",
             Where::code,
             Language::javascript | Language::html,
             kSource},
            {"data-exfiltration",
             {"nslookup", "dig ", "host "},
             R"re(\b(?:nslookup|dig|host)\s+[^;&|]*(?:\$\(|`|\$\{?[A-Z_]*(?:TOKEN|SECRET|KEY))[^;&|]*\.\w+\.\w+)re",
             Where::text,
             kAnyLanguage,
             kScript | kWorkflow},
            {"data-exfiltration",
             {"secrets.", "tojson(secrets", "github_token"},
             R"re((?:\bcurl\b|\bwget\b|\bnc\b)[^;&|]*\$\{\{\s*(?:secrets\.\w+|toJSON\(secrets\))\s*\}\}[^;&|]*https?://|\btoJSON\(\s*secrets\s*\))re",
             Where::text,
             kAnyLanguage,
             kWorkflow},
};

struct Line {
  const HunkView* hunk;
  std::size_t index;
  const DiffLine& line() const { return hunk->lines()[index]; }
};

/// The added lines of one hunk that match.
std::vector<Line> added_matching(const HunkView& hunk, Topic topic, const LazyRegex& regex) {
  std::vector<Line> out;
  for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
    if (hunk.lines()[i].kind == LineKind::added && hunk.is_about(i, topic) && regex.matches(hunk.text_of(i)))
      out.push_back({&hunk, i});
  }
  return out;
}

std::vector<Line> added_matching(const FileView& file, Topic topic, const LazyRegex& regex) {
  std::vector<Line> out;
  for (const HunkView& hunk : file.hunks) {
    for (const Line& line : added_matching(hunk, topic, regex)) out.push_back(line);
  }
  return out;
}

/// The topics of all lines that the hunk adds.
TopicMask topics_added(const HunkView& hunk) {
  TopicMask mask = 0;
  for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
    if (hunk.lines()[i].kind == LineKind::added) mask |= hunk.topics(i);
  }
  return mask;
}

TopicMask topics_added(const FileView& file) {
  TopicMask mask = 0;
  for (const HunkView& hunk : file.hunks) mask |= topics_added(hunk);
  return mask;
}

bool holds_all(TopicMask mask, std::initializer_list<Topic> topics) {
  return std::all_of(topics.begin(), topics.end(), [&](Topic topic) { return (mask & bit(topic)) != 0; });
}

// --- A socket bound to a shell --------------------------------------------------------------------------------------

const LazyRegex& socket_use() {
  static const LazyRegex regex(
      R"re(\bsocket\s*\(|\bsocket\.socket\b|\.connect\s*\(|\bnet\.(?:connect|Socket|Dial)|\bTcpStream::connect|\bTcpClient\s*\(|\bTCPClient\b|\bTCPSocket\b|\bnew\s+Socket\s*\(|\bfsockopen\s*\(|\bcreate_connection\b|\bWSASocket|\bsockaddr_in\s*\(|\bgen_tcp:?\.?connect|\bsocket\.(?:tcp|connect)\b|\bstream_socket_client\s*\()re");
  return regex;
}

const LazyRegex& shell_use() {
  static const LazyRegex regex(
      R"re(["'](?:/usr)?/bin/(?:ba|z|da|k)?sh(?:\s+-i)?["']|["'](?:ba|z)?sh["']\s*,\s*\[?\s*["']-i["']|["'](?:cmd(?:\.exe)?|powershell(?:\.exe)?)["']|\bpty\.spawn\b|\bexecl\w*\s*\([^)]*sh["']|\biex\b|(?i:\bInvoke-Expression\b)|["'](?:/usr)?/bin/(?:ba|z|da|k)?sh\b|\b(?:io\.popen|os\.execute)\s*\(\s*\w+\s*[,)])re");
  return regex;
}

const LazyRegex& wiring() {
  static const LazyRegex regex(
      R"re(\bdup2\s*\(|\bfileno\s*\(\s*\)|\bStd(?:in|out|err)\s*=|\bstd(?:in|out|err)\s*=\s*\w+|\.pipe\s*\(|\bstdio\b|getInputStream|getOutputStream|\bRedirectStandard|\bfrom_raw_fd\b|\bas_raw_fd\b|\$(?:stdin|stdout)\.reopen|>&\s*STD|hStd(?:Input|Output)|\bopen\s*\(?\s*STD(?:IN|OUT|ERR)\b|\b\d\s*=>\s*\$\w+|\bGetStream\s*\(|\bin:\s*\w+\s*,\s*out:\s*\w+|\.(?:send|write|sendall)\s*\(\s*\w+:?read\w*\s*\(|:send\s*\()re");
  return regex;
}

void find_reverse_shells(const FileView& file, Findings& findings) {
  if (!file.facts.has(kSource)) return;
  for (const HunkView& hunk : file.hunks) {
    if (!holds_all(topics_added(hunk), {Topic::socket, Topic::shell, Topic::wiring})) continue;
    const auto sockets = added_matching(hunk, Topic::socket, socket_use());
    if (sockets.empty()) continue;
    const auto shells = added_matching(hunk, Topic::shell, shell_use());
    if (shells.empty()) continue;
    const auto wires = added_matching(hunk, Topic::wiring, wiring());
    if (wires.empty()) continue;
    for (const auto* lines : {&sockets, &shells, &wires}) {
      for (const Line& line : *lines) findings.add(file, {.rule = "reverse-shell", .line = line.line().new_line});
    }
  }
}

// --- Fetched, then run -----------------------------------------------------------------------------------------------

const LazyRegex& download() {
  static const LazyRegex regex(
      R"re(\bcurl\b[^|]*\s(?:-[a-zA-Z]*[oO]\b|--output|--remote-name|>)|\bwget\s+\S|\burlretrieve\s*\(|\bDownloadFile\s*\(|\bStart-BitsTransfer\b|\bInvoke-WebRequest\b.*-OutFile|\b(?:iwr|irm)\b.*-[oO]\w*|\bhttps?\.get\s*\(\s*["'`]https?:|\brequests\.get\s*\(|\burlopen\s*\(|\bhttp\.Get\s*\(|\breqwest::(?:blocking::)?get|\bfetch\s*\(\s*["'`]https?:|\baria2c\s)re");
  return regex;
}

const LazyRegex& run_of_file() {
  static const LazyRegex regex(
      R"re(\bchmod\s+(?:\+x|a\+x|u\+x|[0-7]{3,4})\s|\bos\.chmod\s*\([^)]*(?:0o?[0-7]*[157]|S_IX|S_IEXEC)|\bchmodSync\s*\([^)]*(?:0o?[0-7]*[157]|["']7)|\bChmod\s*\([^)]*0o?7|\bset_mode\s*\(\s*0o7|(?:^|[;&|(\s])(?:sudo\s+)?(?:ba|z|da)?sh\s+(?:\./|/|\$|[\w.-]+\.sh\b)|(?:^|[;&|(\s])(?:sudo\s+)?\./\S+|\bStart-Process\b|\bexec\s*\(\s*\w*(?:code|script|source|text|body|payload|r\.text|resp)|\bimportlib\b.*spec_from_file_location)re");
  return regex;
}

/// What makes a download trustworthy enough to be only a new network access.
const LazyRegex& verified() {
  static const LazyRegex regex(
      R"re(\bsha(?:256|512)sum\b.*-c|\bshasum\b.*-c|\bgpg\b.*--verify|\bcosign\s+verify|\bminisign\b|\bGet-FileHash\b|\bhashlib\.sha(?:256|512)|createHash\(["']sha(?:256|512))re");
  return regex;
}

void find_fetch_then_run(const FileView& file, Findings& findings) {
  if (!file.facts.has(kSource | kScript | kWorkflow) || file.facts.has(kDocs)) return;
  for (const HunkView& hunk : file.hunks) {
    if (!holds_all(topics_added(hunk), {Topic::download, Topic::run_of_file})) continue;
    const auto downloads = added_matching(hunk, Topic::download, download());
    if (downloads.empty()) continue;
    const auto runs = added_matching(hunk, Topic::run_of_file, run_of_file());
    if (runs.empty() || !added_matching(hunk, Topic::verified, verified()).empty()) continue;
    const std::size_t last_run = runs.back().index;
    for (const Line& from : downloads) {
      if (from.index >= last_run) continue;
      findings.add(file,
                   {.rule = "remote-script", .line = from.line().new_line, .message = "downloads a file and runs it"});
    }
  }
}

// --- Collected, then sent --------------------------------------------------------------------------------------------

const LazyRegex& harvest() {
  static const LazyRegex regex(
      R"re(\bJSON\.stringify\s*\(\s*process\.env\s*[,)]|(?:^|[^}\s])\s*[=(,:]\s*process\.env\s*(?:[;,)}\]]|$)|\bObject\.(?:entries|keys|assign)\s*\([^)]*process\.env\b|\.\.\.process\.env\b|\bdict\s*\(\s*os\.environ|\bos\.environ(?:\.copy\(\)|\.items\(\))?\s*(?:[,)}\]]|$)|\bos\.Environ\s*\(\s*\)|\benv::vars(?:_os)?\s*\(|\bSystem\.getenv\s*\(\s*\)|\bENV\.(?:to_h|to_a|map|each|inspect|to_json)\b|\$_ENV\b\s*[,);]|\bgetenv\s*\(\s*\)|\bGetEnvironmentVariables\s*\()re"
      R"re(|(?:~|\bHOME\b|homedir|expanduser|home_dir|UserHomeDir|/root|/home/)[^;]*(?:\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pypirc|\.kube|\.docker|\.git-credentials|\.bash_history|\.config/gcloud)|["'`/](?:\.ssh/id_\w+|id_rsa|id_ed25519|\.aws/credentials|\.git-credentials|\.netrc|\.kube/config)\b|/etc/(?:passwd|shadow)\b|\bLogin Data\b|\bcookies\.sqlite\b|\bkey4\.db\b|\bkeychain\b.*dump|169\.254\.169\.254|\bsecurity\s+find-(?:generic|internet)-password|\bwallet\.dat\b|Local Storage/leveldb)re"
      R"re(|\bdocument\.cookie\s*(?:[;,)}\]]|$|\.split)|\bJSON\.stringify\s*\(\s*(?:localStorage|sessionStorage)|\bnavigator\.clipboard\.readText|\b(?:input|textarea|password)\w*\.value\b.*(?:password|card)|\bgit\s+config\s+--list|\bhistory\b\s*\|)re");
  return regex;
}

const LazyRegex& sending() {
  static const LazyRegex regex(
      R"re(\brequests\.(?:post|put|patch|request|get)\s*\(|\bhttpx\.\w+\s*\(|\burlopen\s*\(|\burllib\.request\.Request\s*\(|\bhttps?(?:["']\))?\.(?:request|get|Post|PostForm|NewRequest)\b|\bfetch\s*\(|\baxios(?:\.(?:post|put|patch|get|request))?\s*\(|\bsendBeacon\s*\(|\bXMLHttpRequest\b|\bnew\s+WebSocket\b|\bnew\s+Image\b|\.src\s*=\s*["'`]https?:|\bcurl\b|\bwget\b|\bnc\s|\bncat\b|\bsocket\b.*\bconnect|\.sendall\s*\(|\.sendto\s*\(|\.connect\s*\(\s*\(|\bsmtplib\b|\bsendmail\s*\(|\bnet\.Dial|\breqwest::|\bureq::|\bTcpStream::connect|\bNet::HTTP\b|\bcurl_(?:init|setopt|exec)\b|\bHttpClient\b|\bopenConnection\s*\(|\bHttpRequest\b|\bInvoke-(?:WebRequest|RestMethod)\b|\bUpload(?:String|Data|File)\b|\bdns\.(?:lookup|resolve)\s*\(|\bgethostbyname\s*\(|\bgot(?:\.post)?\s*\(|\bundici\b)re");
  return regex;
}

/// A bundled library holds everything on one line; what stands far apart there has nothing to do with each other.
bool is_one_of_many(const FileView& file, const std::vector<Line>& sources, const Line& sink) {
  constexpr std::size_t kBundled = 2000;  // bytes
  return file.facts.has(kGenerated) && sink.line().text.size() > kBundled &&
         std::all_of(sources.begin(), sources.end(),
                     [&](const Line& source) { return source.line().text.size() > kBundled; });
}

/// The new side of `file` imports or calls `other` by its name.
bool names_file(const FileView& file, const FileView& other) {
  static const LazyRegex loads(R"re(\b(?:import|from|require\w*|include|use|using|mod|source|load)\b|^\s*\.\s|\./)re");
  std::string_view stem = base_name(other.facts.lower);
  stem = stem.substr(0, stem.find('.'));
  if (stem.size() < 3) return false;
  return std::any_of(file.hunks.begin(), file.hunks.end(), [&](const HunkView& hunk) {
    return std::any_of(hunk.lines().begin(), hunk.lines().end(), [&](const DiffLine& line) {
      return line.kind != LineKind::removed && loads.matches(line.text) &&
             lower(line.text).find(stem) != std::string::npos;
    });
  });
}

void find_exfiltration(const FileView& file, Findings& findings) {
  if (!file.facts.has(kSource | kScript | kWorkflow) || file.facts.has(kDocs)) return;
  if (!holds_all(topics_added(file), {Topic::harvest, Topic::sending})) return;
  const std::vector<Line> sources = added_matching(file, Topic::harvest, harvest());
  if (sources.empty()) return;
  for (const Line& sink : added_matching(file, Topic::sending, sending())) {
    if (is_one_of_many(file, sources, sink)) continue;
    findings.add(file, {.rule = "data-exfiltration", .line = sink.line().new_line});
  }
}

/// Everything of a kind, or a key itself, as a value to hand on; not the environment that a child process gets.
bool is_taken_whole(std::string_view text) {
  static const LazyRegex key(
      R"re(\.ssh\b|id_rsa|id_ed25519|\.aws/|\.git-credentials|\.netrc|\.kube|\.gnupg|/etc/shadow|Login Data|cookies\.sqlite|key4\.db|wallet\.dat|find-(?:generic|internet)-password)re");
  static const LazyRegex passed_on(
      R"re((?i)\benv\w*\s*(?::?=|:)|\benv\s*\(|\.env\s*=|\.\.\.process\.env|\b(?:spawn|exec\w*|popen|subprocess|fork|command)\b|\bcopy\s*\(|\.get\s*\(|\bin\s+os\.environ)re");
  return key.matches(text) || !passed_on.matches(text);
}

/// A request with something in it, to an address written out.
bool sends_a_body(const Line& sink) {
  static const LazyRegex body(
      R"re((?i)\.(?:post|put|patch|send|sendall|sendto)\w*\s*\(|["']?method["']?\s*[:=]\s*["'](?:post|put)|\bPOST\b|sendBeacon|-d\b|--data|-X\s*POST|-T\b|-F\b|--upload|\b(?:body|data|json|payload)\s*[:=]|UploadString|UploadData)re");
  static const LazyRegex address(
      R"re((?:https?|wss?)://(?:[^@/\s"'`]+@)?(?:[\w-]+\.)+[\w-]+|["'`(](?:\d{1,3}\.){3}\d{1,3}["'`:,)])re");
  static const LazyRegex here(R"re(://(?:localhost|127\.|0\.0\.0\.0|[\w.-]+\.(?:local|localhost|internal)\b))re");
  constexpr std::size_t kReach = 3;  // lines; arguments often follow below, an address stands above
  const auto& lines = sink.hunk->lines();
  bool has_body = false, has_address = false;
  const std::size_t from = sink.index > kReach ? sink.index - kReach : 0;
  for (std::size_t i = from; i < lines.size() && i <= sink.index + kReach; ++i) {
    if (lines[i].kind != LineKind::added) continue;
    has_body = has_body || (i >= sink.index && body.matches(lines[i].text));
    has_address = has_address || (address.matches(lines[i].text) && !here.matches(lines[i].text));
  }
  return has_body && has_address;
}

/// Collected in one file and sent by another of the same change, where one of them names the other, or where what is
/// taken and where it goes leave little doubt.
void find_exfiltration_across(const ChangeView& change, Findings& findings) {
  struct Part {
    const FileView* file;
    std::vector<Line> sources, sinks;
  };
  constexpr std::size_t kMaxUnnamed = 12;  // in a large change a request and a copy of the environment mean little
  constexpr std::size_t kMaxFiles = 64;    // pairs are tried; a larger change is a large-change anyway
  std::vector<Part> parts;
  bool collects = false;
  for (const FileView& file : change.files) {
    if (!file.facts.has(kSource | kScript) || file.facts.has(kDocs | kTest | kGenerated)) continue;
    const TopicMask topics = topics_added(file);
    if (!holds_all(topics, {Topic::harvest}) && !holds_all(topics, {Topic::sending})) continue;
    Part part{&file, added_matching(file, Topic::harvest, harvest()), {}};
    collects = collects || !part.sources.empty();
    parts.push_back(std::move(part));
  }
  if (!collects) return;
  for (Part& part : parts) part.sinks = added_matching(*part.file, Topic::sending, sending());
  // A file with both was judged by itself.
  std::erase_if(parts, [](const Part& part) { return part.sources.empty() == part.sinks.empty(); });
  if (parts.size() > kMaxFiles) parts.resize(kMaxFiles);
  for (const Part& from : parts) {
    for (const Part& to : parts) {
      if (from.sources.empty() || to.sinks.empty()) continue;
      const bool named = names_file(*to.file, *from.file) || names_file(*from.file, *to.file);
      const bool blatant = change.files.size() <= kMaxUnnamed &&
                           std::any_of(from.sources.begin(), from.sources.end(),
                                       [](auto& source) { return is_taken_whole(source.line().text); });
      if (!named && !blatant) continue;
      for (const Line& sink : to.sinks) {
        if (!named && !sends_a_body(sink)) continue;
        findings.add(*to.file, {.rule = "data-exfiltration",
                                .line = sink.line().new_line,
                                .message = "sends what another file of this change collects"});
      }
    }
  }
}

// --- Blobs and character codes ---------------------------------------------------------------------------------------

constexpr std::size_t kLongBlob = 200;

bool is_blob_byte(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
         c == '=' || c == '\\';
}

/// A run of encoded text with letters of both cases and digits; a hash or a word is shorter.
bool holds_long_blob(std::string_view text) {
  if (text.size() < kLongBlob) return false;
  std::size_t run = 0;
  bool upper = false, lower = false, digit = false;
  for (const char c : text) {
    if (!is_blob_byte(c)) {
      run = 0;
      upper = lower = digit = false;
      continue;
    }
    upper = upper || (c >= 'A' && c <= 'Z');
    lower = lower || (c >= 'a' && c <= 'z');
    digit = digit || (c >= '0' && c <= '9');
    if (++run >= kLongBlob && lower && digit && (upper || text.find("\\x") != std::string_view::npos)) return true;
  }
  return false;
}

const LazyRegex& char_codes() {
  static const LazyRegex regex(
      R"re((?:\b\d{2,3}\s*,\s*){12,}\d{2,3}|(?:0x[0-9a-fA-F]{2}\s*,\s*){16,}|(?:\\x[0-9a-fA-F]{2}){16,}|(?:\\u00[0-9a-fA-F]{2}){12,}|(?:chr\(\d+\)\s*[.+]\s*){6,})re");
  return regex;
}

const LazyRegex& decoder() {
  static const LazyRegex regex(
      R"re(\bfromCharCode\b|\batob\s*\(|b64decode|base64_decode|\bdecode64\b|\bbytes\.fromhex\b|unhexlify|\bBuffer\.from\s*\([^)]*["'](?:base64|hex)|\bbytes\s*\(\s*\[|\bchr\b|gzinflate|\bdecompress\s*\(|codecs\.decode|FromBase64String|base64\.StdEncoding\.DecodeString|getDecoder\(\)|unescape\s*\(|String\.fromCodePoint)re");
  return regex;
}

const LazyRegex& execution() {
  static const LazyRegex regex(
      R"re((?:^|[^.\w$])(?:eval|exec|Function|execScript|assert|loadstring|load)\s*\(|\bnew\s+Function\b|\bmarshal\.loads\b|\bos\.system\s*\(|\bsubprocess\.\w+\s*\(|\bchild_process\b|\bexecSync\s*\(|\bexec\.Command\s*\(|\bAssembly\.Load\b|\bdefineClass\s*\(|\binstance_eval\b|\brequire\s*\(\s*[a-z]\w*\s*\)|\bmodule\._compile\b|\b_compile\s*\(|\bVirtualProtect\b|\(\(void\s*\(\*\)\(\)\))re");
  return regex;
}

bool holds_codes(std::string_view text) {
  constexpr std::ptrdiff_t kFewestCommas = 12;  // as in the expression; no line of less is worth compiling it
  const bool may = std::count(text.begin(), text.end(), ',') >= kFewestCommas || contains(text, "\\x") ||
                   contains(text, "\\u00") || contains(text, "chr(");
  return may && char_codes().matches(text);
}

void find_payloads_in(const FileView& file, const HunkView& hunk, Findings& findings) {
  std::optional<std::vector<Line>> runs;  // asked once a hunk, if at all
  for (const DiffLine& line : hunk.lines()) {
    if (line.kind != LineKind::added || line.text.size() < 40) continue;
    const bool blob = holds_long_blob(line.text);
    if (!blob && !holds_codes(line.text)) continue;
    if (!runs) {
      const bool decodes = !added_matching(hunk, Topic::decoder, decoder()).empty();
      runs = decodes ? added_matching(hunk, Topic::execution, execution()) : std::vector<Line>();
      for (const Line& run : *runs) findings.add(file, {.rule = "obfuscated-payload", .line = run.line().new_line});
    }
    if (!runs->empty() || !blob || file.facts.has(kTest | kGenerated)) continue;
    findings.add(file, {.rule = "obfuscated-payload",
                        .line = line.new_line,
                        .weight = 20,
                        .message = "a long encoded text that no one can read"});
  }
}

void find_payloads(const FileView& file, Findings& findings) {
  if (!file.facts.has(kSource | kScript) || file.facts.has(kLockfile | kDocs)) return;
  for (const HunkView& hunk : file.hunks) find_payloads_in(file, hunk, findings);
}

}  // namespace

std::span<const LinePattern> malice_patterns() {
  return kMalicePatterns;
}

void find_chains(const ChangeView& change, Findings& findings) {
  if (change.files.size() > 1) find_exfiltration_across(change, findings);
}

void find_multi_line_malice(const FileView& file, Findings& findings) {
  find_reverse_shells(file, findings);
  find_fetch_then_run(file, findings);
  find_exfiltration(file, findings);
  find_payloads(file, findings);
}

}  // namespace escrow::engine

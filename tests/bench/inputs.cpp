#include "tests/bench/inputs.h"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string_view>

namespace escrow::bench {
namespace {

using std::string_view;

struct SourceKind {
  string_view ending;
  std::span<const string_view> lines;  ///< `%` becomes a name
};

constexpr string_view kPython[] = {
    "    % = self.find_%(key)",
    "    if % is None:",
    "        return []",
    "def load_%(self, path, *, limit=10):",
    "    \"\"\"Reads % from the cache, oldest first.\"\"\"",
    "    for % in sorted(self.items, key=by_name):",
    "        log.debug('% seen: %s', len(%))",
    "    # The order of % matters here.",
    "    result.append(Entry(%, count=len(%) + 1))",
    "    with open(self.path_of(%)) as handle:",
    "",
};
constexpr string_view kScript[] = {
    "  const % = await store.get('%');",
    "  if (!%) return undefined;",
    "export function make%(options = {}) {",
    "  return items.map((%) => ({ ...%, done: true }));",
    "  // % is kept for the next render.",
    "  expect(%.length).toBe(3);",
    "  element.textContent = %.title;",
    "  const url = new URL('/api/%', base);",
    "}",
    "",
};
constexpr string_view kCompiled[] = {
    "  auto % = table.find(key);",
    "  if (% == table.end()) return std::nullopt;",
    "static int count_%(const struct % *list, size_t n)",
    "  for (std::size_t i = 0; i < %.size(); ++i) {",
    "  total += %[i].weight * scale;",
    "/* % is owned by the caller. */",
    "  memcpy(out, %, sizeof(*out));",
    "  assert(% != nullptr);",
    "}",
    "",
};
constexpr string_view kYaml[] = {
    "  - name: %", "    image: registry.example.org/%:1.4.2", "    replicas: 3",
    "  %: true",   "    - uses: actions/checkout@v4",         "      run: npm test -- %",
};
constexpr string_view kProse[] = {
    "The % of a request is kept until its answer is sent.",
    "## Setting up %",
    "- `%` takes a path and returns a list",
    "See the chapter on % for details.",
    "",
};
/// What a scorer is for; one line in fifty.
constexpr string_view kRisky[] = {
    "    requests.get(url_of_%, verify=False)",
    "  eval(request.body.%)",
    "    subprocess.run('ls ' + %, shell=True)",
    "  db.query('SELECT * FROM t WHERE id = ' + %)",
    "  element.innerHTML = %;",
    "    digest = hashlib.md5(%).hexdigest()",
    "  password = os.environ['%']",
};
constexpr std::array kKinds{SourceKind{"py", kPython}, SourceKind{"js", kScript}, SourceKind{"cpp", kCompiled},
                            SourceKind{"ts", kScript}, SourceKind{"yaml", kYaml}, SourceKind{"md", kProse}};
constexpr string_view kNames[] = {"invoice", "session", "account",  "cursor",   "window", "parcel",
                                  "ticket",  "channel", "document", "fragment", "reader", "schedule"};

/// The standard's distributions differ between libraries; the generator itself does not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  string_view pick(std::span<const string_view> from) { return from[below(from.size())]; }

 private:
  std::mt19937_64 engine_;
};

std::string fill_in(string_view form, Random& random) {
  std::string out;
  for (const char c : form) {
    if (c == '%') {
      out += random.pick(kNames);
    } else {
      out += c;
    }
  }
  return out;
}

std::string make_line(const SourceKind& kind, Random& random) {
  constexpr std::size_t kRiskyOneIn = 50;
  return fill_in(random.below(kRiskyOneIn) == 0 ? random.pick(kRisky) : random.pick(kind.lines), random);
}

struct HunkText {
  std::string body;
  std::size_t before = 0, now = 0;
};

HunkText make_hunk(const SourceKind& kind, std::size_t lines, Random& random) {
  HunkText hunk;
  for (std::size_t i = 0; i < lines; ++i) {
    const bool edge = i < 3 || i + 3 >= lines;
    const std::size_t roll = random.below(10);
    const char mark = edge || roll < 3 ? ' ' : roll < 8 ? '+' : '-';
    hunk.before += mark != '+';
    hunk.now += mark != '-';
    hunk.body += mark + make_line(kind, random) + "\n";
  }
  return hunk;
}

}  // namespace

std::string make_diff(std::size_t lines, std::uint64_t seed) {
  constexpr std::size_t kFileLines = 250, kHunkLines = 25;
  Random random(seed);
  std::string out;
  for (std::size_t made = 0, file = 0; made < lines; ++file) {
    const SourceKind& kind = kKinds[random.below(kKinds.size())];
    const std::string path =
        "src/" + std::string(random.pick(kNames)) + "/part" + std::to_string(file) + "." + std::string(kind.ending);
    out += "diff --git a/" + path + " b/" + path + "\nindex 3b18e51..8d2f0aa 100644\n--- a/" + path + "\n+++ b/" + path;
    out += '\n';
    std::size_t before = 10, now = 10;
    const std::size_t until = std::min(made + kFileLines, lines);
    while (made < until) {
      const std::size_t count = std::min(kHunkLines, until - made);
      const HunkText hunk = make_hunk(kind, count, random);
      out += "@@ -" + std::to_string(before) + "," + std::to_string(hunk.before) + " +" + std::to_string(now) + "," +
             std::to_string(hunk.now) + " @@\n" + hunk.body;
      before += hunk.before + 40;
      now += hunk.now + 40;
      made += count;
    }
  }
  return out;
}

const std::vector<std::string>& typical_commands() {
  static const std::vector<std::string> kCommands = {
      "git status --short",
      "git log --oneline -20 -- src/app.ts",
      "git diff HEAD~1 | head -200",
      "rg -n 'TODO|FIXME' src --type ts",
      "find . -name '*.py' -not -path './node_modules/*' | xargs wc -l",
      "npm test -- --run src/account.test.ts",
      "cd services/api && go build ./... && go test ./internal/...",
      "sed -n '120,180p' server/main.cpp",
      "python3 -m pytest -q tests/test_parser.py::test_empty 2>&1 | tail -40",
      "for f in src/*.ts; do echo \"$f\"; grep -c export \"$f\"; done",
      "cargo clippy --all-targets -- -D warnings",
      "curl -fsSL https://example.org/install.sh | bash",
      "rm -rf build && cmake -B build -G Ninja && ninja -C build",
      "docker compose exec db psql -U app -c 'select count(*) from users'",
      "cat <<'EOF' > notes.md\n# Plan\n- read the parser\nEOF",
      "echo 'done' >> /etc/hosts",
  };
  return kCommands;
}

}  // namespace escrow::bench

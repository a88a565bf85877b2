#!/usr/bin/env bash
# Holds the sources to the table of README.md: who may include whom, and who may do what.
#
#   structure.sh [ROOT]       checks a tree; prints each violation as file:line: what; exit 1 if there is any
#   structure.sh --self-check plants one violation of each rule in a copy and demands that it is found
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folders=(protocol engine sandbox server)
violations=0

sources() { # FOLDER…: the C++ files below, relative to the root
  (cd "$root" && find "$@" -type f \( -name '*.cpp' -o -name '*.h' \) 2>/dev/null | sort)
}

complain() { # "file:line:text" lines on stdin; $1 says what is wrong
  local where
  while IFS= read -r where; do
    printf '%s: %s\n' "$(cut -d: -f1,2 <<<"$where")" "$1"
    violations=$((violations + 1))
  done
}

# find_in PATTERN FILE…: matching lines that are not comments, as file:line:text
find_in() {
  local pattern=$1
  shift
  (($# > 0)) || return 0
  (cd "$root" && grep -HnE -- "$pattern" "$@" || true) | grep -vE '^[^:]+:[0-9]+: *(//|\*)' || true
}

# The same for calls: rule tables name `popen(` in text, which calls nothing. An include keeps its quotes.
find_call() {
  find_in "$@" | sed -E '/# *include/! s/R"[a-z]*\(.*\)[a-z]*"/""/g; /# *include/! s/"([^"\\]|\\.)*"/""/g' | grep -E -- "$1" || true
}

forbid() { # WHAT PATTERN FILE…
  local what=$1 pattern=$2
  shift 2
  complain "$what" < <(find_in "$pattern" "$@")
}

forbid_call() {
  local what=$1 pattern=$2
  shift 2
  complain "$what" < <(find_call "$pattern" "$@")
}

except() { # PATTERN: drops the file names that match
  grep -vE -- "$1" || true
}

includes='^ *# *include *'

check_folders() {
  local folder
  for folder in protocol engine sandbox; do
    local others=()
    local other
    for other in "${folders[@]}"; do [[ $other == "$folder" ]] || others+=("$other"); done
    forbid "$folder may include no other folder of ours" \
      "$includes\"($(IFS='|' && echo "${others[*]}"))/" $(sources "$folder")
  done
  forbid 'a quoted include names its folder: "engine/…", "server/…"' \
    "$includes\"[^/\"]+\"" $(sources "${folders[@]}")
}

# FOLDER(S), LIBRARY, PATTERN of the headers
check_libraries() {
  local json='<boost/json' asio='<boost/(asio|process|beast)' spdlog='<spdlog/' git='<git2' re2='<re2/' tree='<tree_sitter/'
  local yaml='<yaml-cpp/' cli='<CLI/' crypto='<openssl/' seccomp='<seccomp\.h'
  forbid 'only protocol and server use Boost.JSON' "$includes$json" $(sources engine sandbox)
  forbid 'only sandbox and server use Asio, Process and Beast' "$includes$asio" $(sources protocol engine)
  forbid 'only sandbox and server log' "$includes$spdlog" $(sources protocol engine)
  forbid 'only engine uses RE2' "$includes$re2" $(sources protocol sandbox server)
  forbid 'only engine uses tree-sitter' "$includes$tree" $(sources protocol sandbox server)
  forbid 'only sandbox uses libseccomp' "$includes$seccomp" $(sources protocol engine server)
  forbid 'only server uses libcrypto' "$includes$crypto" $(sources protocol engine sandbox)
  forbid 'only server/workspace, server/review and server/ambient use libgit2' "$includes$git" \
    $(sources "${folders[@]}" | except '^server/(workspace|review|ambient)')
  forbid 'only server/store/policy_yaml.cpp reads YAML' "$includes$yaml" \
    $(sources "${folders[@]}" | except '^server/store/policy_yaml\.cpp$')
  forbid 'CLI11 stays in the .cpp files of server/cli' "$includes$cli" \
    $(sources "${folders[@]}" | except '^server/cli/[^/]*\.cpp$')
}

# Asio and Process cost seconds a translation unit; a header that needs them declares why in a comment:
# "Includes Asio for its timers: …".
check_headers() {
  local file
  for file in $(sources "${folders[@]}" | grep '\.h$' || true); do
    grep -qE '^ *//.*\bIncludes (Asio|Process|Beast|spdlog|tree-sitter)\b' "$root/$file" && continue
    forbid 'a header that includes Asio, Process, Beast, spdlog or tree-sitter declares why: // Includes Asio for …' \
      "$includes<(boost/(asio|process|beast)|spdlog|tree_sitter)/" "$file"
  done
}

# The engine is text and values in, values out.
check_engine_is_pure() {
  local files
  files=$(sources engine)
  forbid 'engine does no I/O: this header is for files, clocks, threads, processes or the environment' \
    "$includes<(filesystem|fstream|iostream|ctime|thread|random|csignal|unistd\.h|fcntl\.h|sys/.*|dirent\.h|time\.h)>" $files
  forbid_call 'engine does no I/O: no files, clock, environment, processes or output' \
    '\b(getenv|secure_getenv|fopen|fprintf|printf|puts|popen|system|fork|execve?|clock_gettime|gettimeofday|localtime|gmtime|rand|srand) *\(|std::(cout|cerr|clog|ifstream|ofstream|random_device)|std::chrono::[a-z_]*clock|(^|[^_a-zA-Z.>])time *\((NULL|nullptr|0|&)' $files
}

check_processes() {
  forbid_call 'only sandbox starts processes' \
    '\b(v?fork|execv|execve|execvp|execvpe|execl|execlp|fexecve|posix_spawnp?|popen|clone3?|system) *\(|boost/process' \
    $(sources protocol engine server | except '^server/main\.cpp$')
}

# Opening for writing, renaming, removing: the gate (server/workspace), and the stores for their own state.
check_writers() {
  forbid_call 'only server/workspace writes the tree of the user, and server/store its own state' \
    '\b(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)\b|(^|[^.>_a-zA-Z])(renameat2?|rename|unlinkat|unlink|symlinkat|symlink|linkat|truncate|ftruncate|mkdirat|mkdir|rmdir|fchmodat?|fchownat?|remove_all|remove|copy_file|resize_file) *\(.*(path|file|dir|name)|std::(basic_)?o?fstream|std::filesystem::(rename|remove|copy|create|permissions|resize)|SYS_renameat2' \
    $(sources protocol server | except '^server/(workspace/|store/|main\.cpp$|cli/consent\.cpp$|lsp/(socket|stdio|findings_view))')
}

check_wire() {
  forbid 'only protocol and server/lsp speak LSP positions' "$includes\"protocol/lsp_" \
    $(sources engine sandbox server | except '^server/(lsp/|documents)')
}

check_tree() {
  violations=0
  check_folders
  check_libraries
  check_headers
  check_engine_is_pure
  check_processes
  check_writers
  check_wire
}

# ---- Self-check: a test that cannot fail tests nothing

# PHRASE|FILE|LINE: the line in that file must be found, and the complaint must hold the phrase.
planted() {
  cat <<'TEXT'
engine may include no other|engine/a.cpp|#include "server/broker.h"
protocol may include no other|protocol/b.h|#include "engine/diff.h"
sandbox may include no other|sandbox/deep/a.cpp|#include "protocol/message.h"
names its folder|server/c.cpp|#include "broker.h"
Boost.JSON|engine/d.h|#include <boost/json/value.hpp>
Boost.JSON|sandbox/e.cpp|#include <boost/json.hpp>
use Asio|protocol/f.cpp|#include <boost/asio/io_context.hpp>
server log|engine/g.cpp|#include <spdlog/spdlog.h>
uses RE2|server/h.cpp|#include <re2/re2.h>
uses tree-sitter|server/lsp/i.cpp|#include <tree_sitter/api.h>
libseccomp|server/j.cpp|#include <seccomp.h>
libcrypto|sandbox/k.cpp|#include <openssl/evp.h>
libgit2|server/lsp/l.cpp|#include <git2.h>
YAML|server/store/m.cpp|#include <yaml-cpp/yaml.h>
CLI11|server/cli/n.h|#include <CLI/CLI.hpp>
declares why|server/o.h|#include <boost/asio/io_context.hpp>
for files, clocks|engine/p.cpp|#include <fstream>
no files, clock|engine/q.cpp|  const char* home = std::getenv("HOME");
no files, clock|engine/r.cpp|  auto now = std::chrono::system_clock::now();
no files, clock|engine/s.cpp|  auto now = time(nullptr);
starts processes|server/cli/t.cpp|  ::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, argv, env);
starts processes|server/lsp/u.cpp|  std::system("true");
writes the tree|server/review/v.cpp|  std::ofstream out(path);
writes the tree|server/cli/w.cpp|  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
writes the tree|server/x.cpp|  std::filesystem::remove(path);
LSP positions|server/y.cpp|#include "protocol/lsp_types.h"
TEXT
}

# FILE|LINE: must pass.
harmless() {
  cat <<'TEXT'
engine/ok_a.cpp|  // getenv( is named in a comment only
engine/ok_h.cpp|  {"popen(", "a shell", 50},
engine/ok_b.cpp|  const auto runtime = read_time(text);
server/ok_c.h|// Includes Asio for its timers.\n#include <boost/asio/io_context.hpp>
server/workspace/ok_d.cpp|  int fd = ::openat(dir, name, O_WRONLY | O_CREAT, 0600);
sandbox/ok_e.cpp|  ::execve(path, argv, env);
server/cli/ok_f.cpp|#include <CLI/CLI.hpp>
server/ok_g.cpp|  agents_.remove(name);
TEXT
}

write_line() { # ROOT FILE LINE
  mkdir -p "$(dirname "$1/$2")"
  printf '%b\n' "$3" >"$1/$2"
}

self_check() {
  local copy found phrase file line missed=0
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' RETURN
  while IFS='|' read -r phrase file line; do write_line "$copy" "$file" "$line"; done < <(planted)
  while IFS='|' read -r file line; do write_line "$copy" "$file" "$line"; done < <(harmless)
  found=$(root=$copy && check_tree)
  while IFS='|' read -r phrase file line; do
    grep -qE "^$file:1: .*$phrase" <<<"$found" || { echo "not found: $line in $file ($phrase)"; missed=1; }
  done < <(planted)
  if grep -E '(^|/)ok_' <<<"$found"; then
    echo 'wrongly refused: the lines above'
    missed=1
  fi
  ((missed == 0)) || exit 1
  echo 'every planted violation was found'
}

if [[ ${1:-} == --self-check ]]; then
  self_check
  exit
fi
root=${1:-$root}
check_tree
((violations == 0)) || exit 1
echo "$(sources "${folders[@]}" | wc -l) files keep to the table"

# Sourced by the editor tests: a private place for one run, gone when it ends.
#
# Gives: $place, the repository $place/project, an `escrow_lsp` on PATH that keeps the server's standard error in
# $place/server.stderr, and `drive COMMAND…`, which runs an editor for at most a minute and says why if it fails.
# Nothing of the person's own configuration or state is read or written.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
limit_seconds=60

complain() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

require_editor() {
  command -v "$1" >/dev/null || complain "$1 is missing; \`./dev test\` installs it"
}

[[ -n ${ESCROW_BIN:-} ]] || complain 'say which server: ESCROW_BIN=build/release/bin/escrow'
[[ -x $ESCROW_BIN ]] || complain "$ESCROW_BIN: no such program; \`./dev build\` makes it"
ESCROW_BIN=$(cd "$(dirname "$ESCROW_BIN")" && pwd)/${ESCROW_BIN##*/}

place=$(cd "$(mktemp -d "${TMPDIR:-/tmp}/escrow-editor.XXXXXX")" && pwd -P)
trap 'rm -rf "$place"' EXIT

export HOME=$place/home XDG_CONFIG_HOME=$place/config XDG_DATA_HOME=$place/data XDG_CACHE_HOME=$place/cache
export XDG_STATE_HOME=$place/state XDG_RUNTIME_DIR=$place/run
export GIT_CONFIG_NOSYSTEM=1 LANG=C.UTF-8 LC_ALL=C.UTF-8
unset ESCROW_STATE_DIR ESCROW_CONFIG_DIR ESCROW_GRANTS_PATH GIT_DIR GIT_WORK_TREE
export ESCROW_TEST_PLACE=$place
(umask 077 && mkdir -p "$HOME" "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" "$XDG_CACHE_HOME" "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR" "$place/bin")

# The editors keep a server's standard error to themselves, or nowhere; a failing test must show it.
cat >"$place/bin/escrow_lsp" <<SH
#!/bin/sh
exec "$ESCROW_BIN" lsp 2>>"$place/server.stderr"
SH
chmod +x "$place/bin/escrow_lsp"
export PATH=$place/bin:$PATH

make_project() {
  local project=$place/project
  mkdir -p "$project/src"
  cat >"$project/src/client.js" <<'JS'
import https from 'node:https';
import { endpoint } from './config.js';

export function connect() {
  return new https.Agent({
    keepAlive: true,
    rejectUnauthorized: true,
  });
}

export const url = () => endpoint + '/v1';
JS
  cat >"$project/src/config.js" <<'JS'
export const endpoint = 'https://api.example.org';
export const token = process.env.API_TOKEN;
JS
  printf '{ "name": "sample", "version": "1.0.0", "type": "module" }\n' >"$project/package.json"
  git -C "$project" -c init.defaultBranch=main init --quiet
  git -C "$project" add .
  git -C "$project" -c user.name=Sample -c user.email=sample@example.org commit --quiet -m 'A small client'
}
make_project

show_stderr() {
  [[ -s $place/server.stderr ]] || { echo 'the server wrote nothing to standard error' >&2; return; }
  echo '--- standard error of the server' >&2
  tail -n 40 "$place/server.stderr" >&2
}

bounded() {
  if command -v timeout >/dev/null; then timeout --kill-after=5 "$limit_seconds" "$@"; else "$@"; fi
}

drive() {
  local status=0
  bounded "$@" </dev/null || status=$?
  ((status == 0)) && return
  if ((status == 124 || status == 137)); then
    printf '%s: not done after %s s: the last line above is where it stands\n' "${0##*/}" "$limit_seconds" >&2
  fi
  show_stderr
  exit 1
}

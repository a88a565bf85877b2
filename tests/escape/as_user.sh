#!/usr/bin/env bash
# as_user.sh TESTS PROGRAM…: started by root, runs the test program as a user without privilege. The build directory may
# be closed to that user, so it runs copies.
set -euo pipefail

if ((EUID != 0)); then
  echo 'SKIPPED: not started by root; the suite runs as this user anyway' >&2
  exit 77
fi
command -v setpriv >/dev/null || { echo 'SKIPPED: setpriv (util-linux) is missing' >&2; exit 77; }

readonly user=65534
place=$(mktemp -d "${TMPDIR:-/tmp}/escrow-as-user-XXXXXX")
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
cp "$@" "$place"
mkdir -m 700 "$place/home"
chown "$user:$user" "$place/home"

status=0
setpriv --reuid="$user" --regid="$user" --clear-groups env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$place/home" \
  LANG=C.UTF-8 ESCROW_TEST_LIBEXEC="$place" "$place/$(basename "$1")" >"$place/log" 2>&1 || status=$?
cat "$place/log"
echo "skipped, with the reason above: $(grep -c SKIPPED "$place/log" || true)"
exit "$status"

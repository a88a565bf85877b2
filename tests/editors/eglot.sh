#!/usr/bin/env bash
# A real Emacs with Eglot and no package of ours, against the real server. Needs ESCROW_BIN.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
require_editor emacs
drive emacs --batch -Q -l "$here/eglot_test.el"

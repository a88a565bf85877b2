#!/usr/bin/env bash
# A real Neovim, with its built-in client and no plugin of ours, against the real server. Needs ESCROW_BIN.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
require_editor nvim
drive nvim --headless -u NONE -i NONE -n -c "luafile $here/nvim_test.lua"

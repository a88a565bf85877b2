#!/usr/bin/env bash
# `./dev demo --nvim`, driven headless. Needs ESCROW_BIN.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
require_editor nvim
export TMPDIR=$place ESCROW_BIN=$place/bin/escrow_lsp
drive node "$here/../demo/demo.mjs" --nvim -- --headless -c "luafile $here/nvim_demo_test.lua"

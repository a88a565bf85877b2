#!/usr/bin/env bash
# Neovim as it comes, with the server attached: `./dev demo --nvim` starts this in its repository. Needs ESCROW_BIN and
# ESCROW_DEMO_PATCH; arguments go to Neovim.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec nvim -u "$here/init.lua" -i NONE -n "$@" src/client.js

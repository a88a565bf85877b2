// `./dev demo --nvim`: the demo's repository in a real Neovim, with a change and a call already waiting.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { escrowBinary } from '../support/repository.mjs';
import { riskyPatch } from './project.mjs';

const kHere = path.dirname(fileURLToPath(import.meta.url));

/** Opens it and waits until the person leaves; the exit code of Neovim. `extra` are more arguments for it. */
export async function openNeovim(repo, extra) {
  if (spawnSync('nvim', ['--version']).error) {
    console.error('nvim is missing; `./dev test` installs it, or your package manager does');
    return 1;
  }
  const patch = path.join(repo.place, 'proposal.patch');
  fs.writeFileSync(patch, riskyPatch);
  const env = { ...repo.env, ESCROW_BIN: escrowBinary(), ESCROW_DEMO_PATCH: patch };
  const child = spawn(path.join(kHere, 'nvim.sh'), extra, { cwd: repo.root, env, stdio: 'inherit' });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

// Checks sessions against the LSP meta model, where a checker for it is at hand. It is no part of this project: a
// folder with lspcheck.mjs and metaModel.json, named by ESCROW_META_MODEL_DIR or lying beside the checkout.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { projectRoot } from './repository.mjs';

export function metaModelFolder() {
  return process.env.ESCROW_META_MODEL_DIR ?? path.resolve(projectRoot, '..', 'shared', 'recipes');
}

/**
 * The messages that the meta model can say something about: all of the server's, the client's answers, and those of
 * its requests that the server took. What was sent broken on purpose is left out, with the error it got.
 */
function traceForChecker(trace) {
  const messages = trace.filter((entry) => entry.message);
  const failed = new Set();
  const answered = new Set();
  for (const { direction, message } of messages) {
    if (direction !== '<-' || message.method !== undefined) continue;
    (message.error ? failed : answered).add(JSON.stringify(message.id));
  }
  const speaks = ({ direction, message }) => {
    const id = JSON.stringify(message.id);
    if (direction === '<-') return message.method !== undefined || (answered.has(id) && !message.error);
    if (message.method === undefined) return true;
    return message.id !== undefined && answered.has(id) && !failed.has(id);
  };
  return messages.filter(speaks).map(({ direction, message }) => `${direction} ${JSON.stringify(message)}`);
}

/**
 * @param traces of sessions, as LspClient keeps them
 * @returns `{absent}`: why nothing was checked; or `{summary, faults}`.
 */
export function checkAgainstMetaModel(traces) {
  const folder = metaModelFolder();
  const [checker, model] = ['lspcheck.mjs', 'metaModel.json'].map((name) => path.join(folder, name));
  for (const file of [checker, model]) {
    if (!fs.existsSync(file)) return { absent: file };
  }
  // The checker imports ajv from a folder beside itself: it is run from a place where that is this project's.
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'escrow-metamodel-'));
  try {
    fs.copyFileSync(checker, path.join(place, 'lspcheck.mjs'));
    fs.mkdirSync(path.join(place, 'proto'));
    fs.symlinkSync(path.join(projectRoot, 'node_modules'), path.join(place, 'proto', 'node_modules'));
    fs.writeFileSync(path.join(place, 'trace'), traces.flatMap(traceForChecker).join('\n'));
    const run = spawnSync(process.execPath, ['lspcheck.mjs', model, 'trace'], { cwd: place, encoding: 'utf8' });
    const lines = run.stdout.trim().split('\n');
    const faults = lines.filter((line) => line.startsWith('BAD')).map((line) => `meta model: ${line.slice(4)}`);
    if (run.status !== 0 && faults.length === 0) faults.push(`meta model: the checker failed: ${run.stderr.trim()}`);
    return { summary: lines.at(-1), faults };
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

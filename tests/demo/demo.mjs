// An agent and a person at work with the real server, in a small real repository. Run by `./dev demo`.
//
//     node tests/demo/demo.mjs [--keep] [--nvim [-- NEOVIM-ARGUMENT…]]
//
// Tells every hop in a line, with its time, and fails naming the first that is not as it must be. --keep leaves the
// repository, the state and the messages on disk; --nvim opens the repository in Neovim with two matters waiting.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Account } from './account.mjs';
import { openNeovim } from './nvim.mjs';
import { escrowBinary } from '../support/repository.mjs';
import { makeProject } from './project.mjs';
import { Stage } from './stage.mjs';
import { parts } from './story.mjs';

function tail(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

function tellFailure(account, stage, error) {
  account.failed('differs at', stage.here, error.message);
  const known = ['Differs', 'ResponseError'].includes(error.constructor.name);
  if (!known && !error.trace) console.error(error.stack);
  if (stage.client.stderr) console.error(`\nThe server's standard error:\n${tail(stage.client.stderr, 30)}`);
}

async function tell(repo, account, keep) {
  const stage = new Stage(repo, account);
  try {
    for (const part of parts) await part(stage);
    return true;
  } catch (error) {
    tellFailure(account, stage, error);
    await stage.client.kill();
    return false;
  } finally {
    if (keep) fs.writeFileSync(path.join(repo.place, 'messages.txt'), stage.client.traceText());
  }
}

async function play(repo, { keep }) {
  const account = new Account();
  const good = await tell(repo, account, keep);
  if (keep) console.log(`\nKept: ${repo.place} (work/ is the repository, messages.txt what was said)`);
  if (good) account.end(keep ? '' : 'The server has ended, and nothing of it is left.');
  return good ? 0 : 1;
}

const { values: options, positionals } = parseArgs({
  options: { keep: { type: 'boolean' }, nvim: { type: 'boolean' } },
  allowPositionals: true,
});
try {
  escrowBinary();
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const repo = makeProject();
for (const [signal, number] of [['SIGINT', 2], ['SIGTERM', 15]]) {
  process.once(signal, () => {
    if (!options.keep) repo.cleanup(); // the server ends by itself: its input closes
    process.exit(128 + number);
  });
}
try {
  process.exitCode = options.nvim ? await openNeovim(repo, positionals) : await play(repo, options);
} finally {
  if (!options.keep) repo.cleanup();
}

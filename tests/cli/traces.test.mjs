// Two hundred executions, and a server killed in the middle of twenty, leave nothing outside Escrow's own state.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

// The server's /tmp is a private one here, which would hide a repository that lies in it.
process.env.TMPDIR = fs.existsSync('/var/tmp') ? '/var/tmp' : process.env.TMPDIR;
const { escrowClient } = await import('../support/client_capabilities.mjs');
const { LspClient } = await import('../support/lsp_client.mjs');
const { escrowBinary, makeRepo } = await import('../support/repository.mjs');

const isRoot = process.getuid() === 0;

/** A mount namespace with an empty /tmp, so that whatever appears there is ours. Only root can make one that is like the host. */
async function privateTmp() {
  const child = spawn('unshare', ['-m', '--propagation', 'private', 'sh', '-c',
    'mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp && echo ready && exec sleep 600'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', () => reject(new Error('no private /tmp')));
  });
  return {
    command: 'nsenter', args: ['-t', String(child.pid), '-m', escrowBinary(), 'lsp'],
    tmp: `/proc/${child.pid}/root/tmp`, mounts: `/proc/${child.pid}/mountinfo`,
    end: () => child.kill('SIGKILL'),
  };
}

/** Name, type, inode, mode, size and time of everything below `root`, but for `without`. */
function listing(root, without = []) {
  const lines = [];
  const walk = (folder) => {
    for (const name of fs.readdirSync(folder).sort()) {
      const place = path.join(folder, name);
      if (without.includes(place)) continue;
      const info = fs.lstatSync(place, { bigint: true });
      lines.push(`${place} ${info.mode.toString(8)} ${info.ino} ${info.size} ${info.mtimeNs} ${info.nlink}`);
      if (info.isDirectory()) walk(place);
    }
  };
  const top = fs.lstatSync(root, { bigint: true });
  lines.push(`. ${top.mode.toString(8)} ${top.ino} ${top.mtimeNs}`);
  walk(root);
  return lines;
}

/** Processes that carry `mark` in their command line. */
function processesWith(mark) {
  return fs.readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

async function until(what, holds) {
  for (let i = 0; i < 200; ++i) {
    if (holds()) return;
    await new Promise((next) => setTimeout(next, 50));
  }
  assert.fail(`${what}, 10 s long`);
}

async function connect(repo, place) {
  const client = LspClient.start({ command: place?.command, args: place?.args ?? ['lsp'], cwd: repo.root, env: repo.env });
  await client.initialize({ folders: [repo.uri()], capabilities: escrowClient });
  return client;
}

async function agent(client) {
  const { agentId, token } = await client.call('escrow/agent/register', { name: 'coder', version: '1' });
  let calls = 0;
  return (shell) => client.call('escrow/execute', { agentId, token, callId: `c${++calls}`, cwd: client.root, command: { shell } });
}

test('two hundred executions, and a killed server, leave no trace', { timeout: 300_000 }, async () => {
  const repo = makeRepo({ 'README.md': '# Work\n', 'src/a.txt': 'a\n', 'src/deep/b.txt': 'b\n', '.gitignore': 'out/\n' });
  const place = isRoot ? await privateTmp() : null;
  if (!place) console.error('NOT CHECKED: /tmp and the mounts of the host, which takes root');
  const own = [repo.stateDir, path.join(repo.place, 'run')];
  const look = () => ({
    place: listing(repo.place, own),
    tmp: place ? listing(place.tmp) : [],
    mounts: place ? fs.readFileSync(place.mounts, 'utf8') : '',
  });
  let client;
  try {
    const before = look();
    client = await connect(repo, place);
    client.root = repo.uri();
    const run = await agent(client);
    for (let i = 0; i < 200; ++i) {
      const { execId, decision, reason } = await run(
        `echo ${i} > src/new${i % 7}; rm src/deep/b.txt; rmdir src/deep; mkdir -p out/x; echo 1 > out/x/y; echo t > /tmp/t; ln -s a.txt src/l${i}; true`);
      assert.equal(decision, 'allow', reason);
      const done = await client.call('escrow/execute/wait', { execId });
      assert.equal(done.exitCode, 0);
    }
    assert.deepEqual(look(), before);

    const mark = `31.${process.pid}`;
    for (let i = 0; i < 20; ++i) {
      const start = await agent(client); // each with a session of its own, so that all run at once
      await start(`echo x > src/killed; sleep ${mark}`);
    }
    await until('the twenty do not all run', () => processesWith(`sleep\0${mark}`).length === 20);
    assert.ok(fs.readdirSync(path.join(repo.stateDir, 'stages')).length > 0);
    // The server itself: nsenter has become it.
    process.kill(client.pid, 'SIGKILL');
    await until('commands outlive the server', () => processesWith(mark).length === 0);
    await until('stages are left', () => fs.readdirSync(path.join(repo.stateDir, 'stages')).length === 0);
    assert.deepEqual(look(), before);

    // What a crash leaves in the state directory, the next server sweeps.
    assert.ok(fs.readdirSync(path.join(repo.stateDir, 'sessions')).length > 0);
    client = await connect(repo, place);
    await until('stages of dead sessions are not swept',
      () => fs.readdirSync(path.join(repo.stateDir, 'sessions')).length === 0);
    assert.equal(await client.shutdown(), 0);
    assert.deepEqual(look(), before);
  } finally {
    await client?.kill();
    place?.end();
    repo.cleanup();
  }
});

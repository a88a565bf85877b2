// Plays transcripts against the real server and checks all that it says.
//
//   node tests/transcripts/run.mjs [--trace] [NAME…]     all of them, or those named; ESCROW_BIN is the program
//
// Each runs in a git repository, with a HOME and a state directory, of its own. On a failure, or with --trace, all
// messages are printed.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as capabilities from '../support/client_capabilities.mjs';
import { readEscrowShapes } from '../support/escrow_shapes.mjs';
import { fillIn, mismatch, substitute } from '../support/json_match.mjs';
import { kPatienceMs, LspClient, traceText } from '../support/lsp_client.mjs';
import { checkAgainstMetaModel } from '../support/meta_model.mjs';
import { makeRepo } from '../support/repository.mjs';
import { checkSession } from '../support/session_check.mjs';
import { readTranscript } from './transcript.mjs';

const folder = path.dirname(fileURLToPath(import.meta.url));

// Invented, and put together only here, so that no scanner takes the files of this project for a leak.
const kSecrets = {
  inventedKey: ['gh', 'p_', 'R7kQ2mXw9ZtB4nVc', '8LsJ1hGf6DyP3aUe', 'Ho5i'].join(''),
};

class Player {
  constructor(name) {
    this.name = name;
    this.file = `${name}.transcript`;
    this.repo = makeRepo();
    this.client = null;
    this.bindings = {
      root: this.repo.uri(),
      rootPath: this.repo.root,
      pid: process.pid,
      ...capabilities,
      ...kSecrets,
    };
    this.taken = new Set(); // indices into received that a CHECK has claimed
    this.never = [];
    this.faults = [];
    this.traces = []; // one a session
    this.metaModel = null;
  }

  async play() {
    for (const step of readTranscript(path.join(folder, this.file), this.file)) {
      try {
        await this.#step(step);
      } catch (error) {
        error.message = `${this.file}:${error.line ?? step.line}: ${error.message}`;
        throw error;
      }
    }
    this.#checkMetaModel();
  }

  async #step(step) {
    const from = this.client?.received.length ?? 0;
    await this.#act(step);
    for (const expectation of step.expectations) {
      if (expectation.kind === 'NEVER') this.never.push({ ...expectation, from });
      else await this.#expect(expectation, from);
    }
  }

  async #act(step) {
    const text = (value) => fillIn(value, this.bindings);
    switch (step.kind) {
      case 'messages':
        for (const message of step.messages) this.#running().send(substitute(message, this.bindings));
        return;
      case 'wait':
        return;
      case 'raw':
        return this.#running().sendRaw(rawBytes(step.lines, this.bindings));
      case 'close-input':
        return this.#running().closeInput();
      case 'choose':
        return this.#running().choose(step.argument === 'null' ? null : step.argument);
      case 'editing':
        this.#running().editing = step.argument;
        return;
      case 'exit':
        return this.#endSession(Number(step.argument));
      case 'file':
        return this.repo.write(step.argument, text(step.content));
      case 'text':
        this.bindings[step.argument] = text(step.content);
        return;
      case 'user-policy':
        return fs.writeFileSync(path.join(this.repo.env.ESCROW_CONFIG_DIR, 'policy.yaml'), text(step.content), { mode: 0o600 });
      case 'commit':
        return this.repo.commit(step.argument || 'Start');
      case 'git':
        return this.repo.git(...text(step.argument).split(' '));
      case 'digest': {
        const [name, file] = step.argument.split(' ');
        const digest = createHash('sha256').update(fs.readFileSync(this.repo.path(file))).digest('hex');
        const reason = mismatch(`{{${name}}}`, digest, file, this.bindings);
        if (reason !== null) throw new Error(reason);
        return;
      }
      case 'disk':
        return this.#expectOnDisk(step.argument, text(step.content));
      case 'no-file':
        return this.#expectOnDisk(step.argument, null);
      default:
        throw new Error(`no step ${step.kind}`);
    }
  }

  #running() {
    this.client ??= LspClient.start({ cwd: this.repo.root, env: this.repo.env });
    return this.client;
  }

  #expectOnDisk(name, wanted) {
    const found = this.repo.read(name);
    if (found === wanted) return;
    throw new Error(`${name} holds ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
  }

  /** Waits for a message that came after the block's own was sent and that no CHECK has claimed. */
  async #expect({ pattern, line }, from) {
    let bindings;
    let closest = [];
    let claimed;
    const takes = (message) => {
      const index = this.client.received.lastIndexOf(message);
      if (this.taken.has(index)) return false;
      const tried = { ...this.bindings };
      const reason = mismatch(pattern, message, '', tried);
      if (reason !== null) {
        closest.push(reason);
        return false;
      }
      bindings = tried;
      claimed = index;
      return true;
    };
    try {
      await this.client.waitFor(takes, { what: `CHECK: ${JSON.stringify(pattern)}`, from });
    } catch (error) {
      error.line = line;
      error.closest = closest;
      throw error;
    }
    this.taken.add(claimed);
    this.bindings = bindings;
  }

  async #endSession(code) {
    const client = this.#running();
    const found = await client.waitForExit();
    if (found !== code) throw new Error(`the server ended with ${found}, expected ${code}`);
    this.#checkNever();
    await this.#expectNoProcess();
    const secrets = Object.values(kSecrets);
    this.faults.push(
      ...checkSession({ trace: client.trace, wire: Buffer.concat(client.wire), shapes, secrets }),
      ...this.#storedSecrets(secrets),
    );
    this.traces.push(client.trace);
    this.#throwFaults(client.trace);
    this.client = null;
    this.taken.clear();
    this.never = [];
  }

  /** Once for all sessions, since starting the checker takes longer than checking. */
  #checkMetaModel() {
    const { absent, summary, faults } = checkAgainstMetaModel(this.traces);
    this.metaModel = absent ? `meta model not present: ${absent}` : `meta model: ${summary}`;
    this.faults.push(...(faults ?? []));
    this.#throwFaults(this.traces.flat());
  }

  #throwFaults(trace) {
    if (this.faults.length > 0) throw Object.assign(new Error('the session broke rules'), { trace: traceText(trace) });
  }

  #checkNever() {
    for (const { pattern, line, from } of this.never) {
      const broken = this.client.received.slice(from).find((message) => mismatch(pattern, message, '', { ...this.bindings }) === null);
      if (broken) throw Object.assign(new Error(`NEVER came: ${JSON.stringify(broken)}`), { line });
    }
  }

  /** With the server end the commands it ran. They go as the kernel gets round to it, so this is looked at repeatedly. */
  async #expectNoProcess() {
    const end = performance.now() + kPatienceMs;
    let left = processesIn(this.repo.place);
    while (left.length > 0 && performance.now() < end) {
      await new Promise((next) => setTimeout(next, 20));
      left = processesIn(this.repo.place);
    }
    this.faults.push(...left.map((line) => `still runs after the server has ended: ${line}`));
  }

  /** A secret stands in a stored change, which is that change's text; nowhere else. */
  #storedSecrets(secrets) {
    return ['audit.jsonl', 'grants.json', 'escrow.log']
      .map((name) => ({ name, file: path.join(this.repo.stateDir, name) }))
      .filter(({ file }) => fs.existsSync(file))
      .filter(({ file }) => secrets.some((secret) => fs.readFileSync(file, 'utf8').includes(secret)))
      .map(({ name }) => `${name} holds a whole secret`);
  }

  async cleanup() {
    await this.client?.kill();
    this.repo.cleanup();
  }
}

/** Processes, as `pid command`, that work in `place` or name it; none where there is no /proc. */
function processesIn(place) {
  const lines = [];
  for (const pid of fs.existsSync('/proc') ? fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []) {
    try {
      const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (command.includes(place) || fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(place)) lines.push(`${pid} ${command}`);
    } catch {
      // It has just ended, or is another user's.
    }
  }
  return lines;
}

/**
 * Bytes to send past all framing. Each line adds some: a JSON string; `hex: c3 28`; `repeat N "text"`; or
 * `frame: JSON string`, the string with the header it needs.
 */
function rawBytes(lines, bindings) {
  return Buffer.concat(
    lines.map(({ text, line }) => {
      const hex = /^hex:((?:\s*[0-9a-f]{2})*)$/.exec(text.trim());
      if (hex) return Buffer.from(hex[1].replace(/\s/g, ''), 'hex');
      const repeat = /^repeat (\d+) (".*")$/.exec(text.trim());
      if (repeat) return Buffer.from(JSON.parse(repeat[2]).repeat(Number(repeat[1])));
      const frame = /^frame: (.*)$/.exec(text.trim());
      try {
        const bytes = Buffer.from(fillIn(JSON.parse(frame ? frame[1] : text), bindings));
        return frame ? Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]) : bytes;
      } catch (error) {
        throw Object.assign(error, { line });
      }
    }),
  );
}

function report(player, error) {
  console.log(`FAILED ${player.name}: ${error.message}`);
  for (const fault of player.faults) console.log(`  ${fault}`);
  for (const reason of error.closest?.slice(-8) ?? []) console.log(`  not it: ${reason}`);
  const trace = error.trace ?? player.client?.traceText();
  if (trace) console.log(`--- trace\n${trace}`);
  const stderr = error.stderr || player.client?.stderr;
  if (stderr) console.log(`--- standard error of the server\n${stderr.slice(-8000)}`);
  if (!error.trace && !player.faults.length) console.log(error.stack);
}

async function run(name) {
  const player = new Player(name);
  const start = performance.now();
  try {
    await player.play();
    if (showsTrace) console.log(traceText(player.traces.flat()));
    console.log(`passed ${name} (${Math.round(performance.now() - start)} ms; ${player.metaModel})`);
    return true;
  } catch (error) {
    report(player, error);
    return false;
  } finally {
    await player.cleanup();
  }
}

const all = fs.readdirSync(folder).filter((file) => file.endsWith('.transcript')).map((file) => path.basename(file, '.transcript')).sort();
const showsTrace = process.argv.includes('--trace');
const names = process.argv.slice(2).filter((word) => word !== '--trace').map((name) => path.basename(name, '.transcript'));
const shapes = readEscrowShapes();
let failed = 0;
for (const name of names.length > 0 ? names : all) failed += (await run(name)) ? 0 : 1;
console.log(failed === 0 ? 'all passed' : `${failed} failed (each wait is bounded by ${kPatienceMs} ms)`);
process.exitCode = failed === 0 ? 0 : 1;

// What the story is told with: the server, an agent, the person and their editor, and checks that end it.
import fs from 'node:fs';
import { LspClient, ResponseError } from '../support/lsp_client.mjs';

/** A hop that did not go as it must; its message says how. */
export class Differs extends Error {}

export function expect(condition, reason) {
  if (!condition) throw new Differs(typeof reason === 'function' ? reason() : reason);
}

export function expectEqual(actual, wanted, what) {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(wanted)];
  expect(is === should, () => `${what} is ${is}, not ${should}`);
}

/** "none, score 0", as the person reads it. */
export function riskText({ level, score }) {
  return `${level}, score ${score}`;
}

/** True if a code action's title says so, after the name that tells whose action it is. */
export function isTitled(title, beginning) {
  return title.startsWith(`Escrow: ${beginning}`);
}

export function titlesOf(actions) {
  return actions.map(({ title }) => title.replace('Escrow: ', '')).join(' · ');
}

export class Stage {
  /** @param repo the demo's repository; @param account where hops are told */
  constructor(repo, account) {
    this.repo = repo;
    this.account = account;
    this.client = LspClient.start({ cwd: repo.root, env: repo.env });
    /** What stands in files on disk, as far as the story knows: every step compares. */
    this.disk = new Map();
    this.here = 'the start';
  }

  /** Does `body`, then tells of it. `body` returns {verdict, tone, notes?}. */
  async hop(who, what, body) {
    this.here = `${who}: ${what}`;
    const began = performance.now();
    const told = (await body()) ?? {};
    const ms = performance.now() - began;
    this.account.hop(who, what, told, ms);
    for (const note of told.notes ?? []) this.account.note(note);
    this.checkDisk();
  }

  // ---- The files on disk ----

  /** Remembers how all tracked files stand now. */
  knowDisk() {
    for (const name of this.repo.git('ls-files').trim().split('\n')) this.disk.set(name, this.repo.read(name));
  }

  /** From now on the file must hold exactly this. */
  nowHolds(name, text) {
    this.disk.set(name, text);
  }

  /** Every file holds what the story says, and nothing else was made. */
  checkDisk() {
    for (const [name, text] of this.disk) {
      expect(this.repo.read(name) === text, `${name} on disk is not as it should be:\n${this.repo.read(name)}`);
    }
    const strangers = this.repo.git('ls-files', '--others').trim();
    expect(strangers === '', `files nobody asked for: ${strangers}`);
  }

  // ---- The agent ----

  async startAgent(name) {
    this.agent = await this.client.call('escrow/agent/register', { name, version: '1.0', roots: [this.repo.uri()] });
    this.calls = 0;
  }

  /** Parameters of a request by the agent. */
  byAgent(params) {
    return { agentId: this.agent.agentId, token: this.agent.token, ...params };
  }

  nextCall() {
    return `call-${++this.calls}`;
  }

  shellCall(command, more = {}) {
    return this.byAgent({
      callId: this.nextCall(),
      tool: 'shell',
      subject: { kind: 'shell', command, cwd: this.repo.uri() },
      runner: 'escrow',
      ...more,
    });
  }

  /** Runs an allowed command in the sandbox: {started, exited, out, err}. */
  async execute(command, executionToken) {
    const from = this.client.received.length;
    const started = await this.client.call(
      'escrow/execute',
      this.byAgent({ callId: this.nextCall(), executionToken, command: { shell: command }, cwd: this.repo.uri() }),
    );
    expectEqual(started.decision, 'allow', 'the decision of escrow/execute');
    const exited = await this.client.waitForNotification('escrow/execute/exited', (p) => p.execId === started.execId, { from });
    expect(exited.error === undefined, `nothing ran: ${exited.error}`);
    expectEqual(exited.enforcement.level, 'sandbox', 'the enforcement level');
    return { started, exited, ...this.outputOf(started.execId) };
  }

  /** The streamed output of an execution, put together. */
  outputOf(execId) {
    const pieces = { out: [], err: [] };
    for (const { method, params } of this.client.received) {
      if (method !== 'escrow/execute/output' || params.execId !== execId) continue;
      pieces[params.stream].push(Buffer.from(params.data, params.encoding === 'base64' ? 'base64' : 'utf8'));
    }
    return { out: Buffer.concat(pieces.out).toString(), err: Buffer.concat(pieces.err).toString() };
  }

  /** A request that must be refused; the ResponseError. */
  async refused(method, params, code) {
    try {
      const result = await this.client.call(method, params);
      throw new Differs(`${method} was not refused: ${JSON.stringify(result)}`);
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error;
      expect(error.code === code, `refused with ${error.code} (${error.reason}), not ${code}`);
      return error;
    }
  }

  // ---- The person ----

  openFile(name) {
    this.client.open(this.repo.uri(name), this.repo.read(name), 'javascript');
  }

  /** Saves the buffer, as `:w` does. */
  saveFile(name) {
    const uri = this.repo.uri(name);
    const { text } = this.client.documents.get(uri);
    fs.writeFileSync(this.repo.path(name), text);
    this.client.notify('textDocument/didSave', { textDocument: { uri } });
  }

  /** Waits until the file shows a diagnostic that `wanted` takes; gives it. */
  async seen(name, what, wanted) {
    const holds = (list) => list.some(wanted);
    const { diagnostics } = await this.client.waitForDiagnostics(this.repo.uri(name), holds, {
      what: `a diagnostic in ${name}: ${what}`,
    });
    const found = diagnostics.find(wanted);
    expectEqual(found.source, 'escrow', 'the source of the diagnostic');
    return found;
  }

  /** Waits until no diagnostic of the file is taken by `unwanted`. */
  gone(name, what, unwanted) {
    const holds = (list) => !list.some(unwanted);
    return this.client.waitForDiagnostics(this.repo.uri(name), holds, { what: `${what} to be gone from ${name}` });
  }

  /** The code actions a lightbulb would list at the diagnostic. */
  async actionsAt(name, diagnostic) {
    return this.#checked(await this.client.codeActions(this.repo.uri(name), diagnostic));
  }

  /** The same on a line (from 1) where nothing is marked. */
  async actionsOnLine(name, line) {
    const position = { line: line - 1, character: 0 };
    return this.#checked(
      await this.client.call('textDocument/codeAction', {
        textDocument: { uri: this.repo.uri(name) },
        range: { start: position, end: position },
        context: { diagnostics: [] },
      }),
    );
  }

  #checked(actions) {
    expect(actions?.length > 1, `one action or none is offered: ${JSON.stringify(actions)}`);
    for (const action of actions) {
      expect(action.command?.command && !action.edit, `"${action.title}" is not a mere command`);
      expect(!action.isPreferred, `"${action.title}" would be taken unasked`);
    }
    return actions;
  }

  /** Clicks the action whose title begins so, after the name that tells whose it is. */
  async click(actions, beginning) {
    const action = actions.find(({ title }) => isTitled(title, beginning));
    expect(action, () => `no action "${beginning}…" among: ${titlesOf(actions)}`);
    expectEqual(await this.client.runCommand(action.command), null, 'the answer to executeCommand');
    return action;
  }

  /** Waits until the review is in that state; gives the review. */
  async reviewIs(reviewId, state) {
    const get = () => this.client.call('escrow/review/get', { reviewId });
    let from = this.client.received.length;
    for (;;) {
      const review = await get();
      if (review.state === state) return review;
      const waiting = ['pending', 'checking', 'approved', 'stale'].includes(review.state);
      expect(waiting, `review ${reviewId} is ${review.state}, not ${state}`);
      const changed = await this.client.waitFor((m) => m.method === 'escrow/review/changed' && m.params.reviewId === reviewId, {
        what: `review ${reviewId} to become ${state} (it is ${review.state})`,
        from,
      });
      from = this.client.received.indexOf(changed) + 1;
    }
  }
}

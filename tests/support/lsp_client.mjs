// A language client for tests: starts the real server, keeps every message of both directions, and answers the
// server's requests as an editor would.
//
//     const repo = makeRepo({ 'a.txt': 'one\n' });
//     const client = LspClient.start({ cwd: repo.root, env: repo.env });
//     await client.initialize({ folders: [repo.uri()] });
//     client.open(repo.uri('a.txt'), 'one\n');
//     const { diagnostics } = await client.waitForDiagnostics(repo.uri('a.txt'), (found) => found.length > 0);
//     const [show, deny, once] = await client.codeActions(repo.uri('a.txt'), diagnostics[0]);
//     await client.runCommand(once.command);
//     assert.equal(await client.shutdown(), 0);
//
// Every wait is bounded; one that runs out fails with the trace. Nothing sleeps.
import { spawn } from 'node:child_process';
import rpc from 'vscode-jsonrpc/node.js';
import { plainClient } from './client_capabilities.mjs';
import { escrowBinary } from './repository.mjs';
import { applyEdits, Documents } from './text_document.mjs';

const { StreamMessageReader } = rpc;

/** How long any wait may take before it counts as a failure. Generous: it only ever passes when something is wrong. */
export const kPatienceMs = Number(process.env.ESCROW_TEST_PATIENCE_MS ?? 60_000);

/** An error answer of the server. */
export class ResponseError extends Error {
  constructor(method, { code, message, data }) {
    super(`${method}: ${message} (${code})`);
    this.method = method;
    this.code = code;
    this.data = data;
    /** The server's own words. */
    this.reason = message;
  }
}

/** JSON of a message in the trace, cut where it would drown the rest. */
function shorten(text, limit = 4000) {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`;
}

/** Whole frames at the head of what was written. */
function countFrames(wire) {
  let count = 0;
  for (let at = 0; ; ++count) {
    const header = /^(?:[^\r\n]+\r\n)*?Content-Length: *(\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/i.exec(wire.toString('latin1', at, at + 512));
    if (!header) return count;
    at += header[0].length + Number(header[1]);
    if (at > wire.length) return count;
  }
}

/** A trace as text, one message a line. */
export function traceText(trace) {
  const line = ({ direction, message, raw }) =>
    raw === undefined
      ? `${direction} ${shorten(JSON.stringify(message))}`
      : `${direction} raw ${shorten(JSON.stringify(Buffer.from(raw).toString('latin1')), 400)}`;
  return trace.map(line).join('\n');
}

export class LspClient {
  /** Messages of both directions in order: `{direction: '->' | '<-', message}`; '->' is to the server. */
  trace = [];
  /** What the server sent, in order. */
  received = [];
  /** Every byte the server wrote, for checks of the framing. */
  wire = [];
  stderr = '';
  documents = new Documents();
  /** What an editor does with workspace/applyEdit: `apply`; `decline`; `lie`: say yes, do nothing; `ignore`: no answer. */
  editing = 'apply';
  /** Answers to workspace/configuration by section; absent sections are null. */
  settings = {};
  /** Handlers by method for the server's requests, looked up before the built-in ones. Return the result. */
  handlers = new Map();

  #process;
  #waiters = new Set();
  #nextId = 1;
  #ended = null;
  #choices = [];
  #questions = [];

  /**
   * Starts `escrow lsp`, or another command. `cwd` and `env` are the child's; `env` replaces ours, it is not added.
   */
  static start({ command = escrowBinary(), args = ['lsp'], cwd, env } = {}) {
    return new LspClient(spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] }));
  }

  constructor(child) {
    this.#process = child;
    child.stdin.on('error', () => {}); // the server may have ended: whoever waits for an answer hears of it
    child.stdout.on('data', (chunk) => this.wire.push(chunk));
    child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text));
    const reader = new StreamMessageReader(child.stdout);
    reader.onError((error) => this.#end(`what the server wrote cannot be read: ${error.message ?? error}`));
    reader.listen((message) => this.#receive(message));
    /** Resolves to the exit code when the process has ended and all of its output was read; null after a signal. */
    this.exit = new Promise((resolve) => {
      child.on('error', (error) => this.#end(`the server could not be started: ${error.message}`));
      child.on('close', async (code, signal) => {
        await this.#readRest();
        this.#end(`the server has ended (${signal ?? `exit code ${code}`})`);
        resolve(code);
      });
    });
  }

  /** The reader hands messages on some turns of the event loop after their bytes came. */
  async #readRest() {
    const frames = countFrames(Buffer.concat(this.wire));
    for (let turn = 0; turn < 1000 && this.received.length < frames && !this.#ended; ++turn) {
      await new Promise((next) => setImmediate(next));
    }
  }

  get pid() {
    return this.#process.pid;
  }

  // ---- Sending ----

  /** Sends a message as it is; `jsonrpc` is added. Documents follow didOpen, didChange and didClose. */
  send(message) {
    const whole = { jsonrpc: '2.0', ...message };
    this.trace.push({ direction: '->', message: whole });
    this.documents.follow(whole);
    // Written here and now, so that raw bytes and the end of the input come after it.
    const body = Buffer.from(JSON.stringify(whole));
    this.#process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#process.stdin.write(body);
  }

  /** Bytes past all framing. */
  sendRaw(bytes) {
    this.trace.push({ direction: '->', raw: bytes });
    this.#process.stdin.write(bytes);
  }

  /** Closes the server's input, as an editor that dies does. */
  closeInput() {
    this.#process.stdin.end();
  }

  notify(method, params) {
    this.send({ method, params });
  }

  /** Sends a request; `response` resolves to the whole message, result or error. For calls that stay open. */
  request(method, params) {
    const id = this.#nextId++;
    const from = this.received.length;
    this.send({ id, method, params });
    const response = this.waitFor((message) => message.id === id && message.method === undefined, {
      what: `the answer to ${method} (id ${id})`,
      from,
    });
    response.catch(() => {}); // it may be looked at late, or never
    return { id, response };
  }

  /** Sends a request and returns its result; throws ResponseError. */
  async call(method, params) {
    const answer = await this.request(method, params).response;
    if (answer.error) throw new ResponseError(method, answer.error);
    return answer.result;
  }

  cancel(id) {
    this.notify('$/cancelRequest', { id });
  }

  // ---- Waiting ----

  /**
   * The first message of the server, from index `from` of `received` on, that `predicate` takes. Throws when the
   * patience is over or the server has ended.
   */
  waitFor(predicate, { what = 'a message', from = 0, patienceMs = kPatienceMs } = {}) {
    for (let i = from; i < this.received.length; ++i) {
      if (predicate(this.received[i])) return Promise.resolve(this.received[i]);
    }
    if (this.#ended) return Promise.reject(this.#failure(`waited for ${what}, but ${this.#ended}`));
    return new Promise((resolve, reject) => {
      const waiter = { predicate, resolve, reject, what };
      waiter.timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(this.#failure(`waited ${patienceMs} ms for ${what}`));
      }, patienceMs);
      this.#waiters.add(waiter);
    });
  }

  waitForNotification(method, predicate = () => true, options = {}) {
    return this.waitFor((message) => message.method === method && predicate(message.params), {
      what: `the notification ${method}`,
      ...options,
    }).then((message) => message.params);
  }

  /** The document's diagnostics as they stand, once `predicate` takes them: `{uri, version?, diagnostics}`. */
  waitForDiagnostics(uri, predicate = () => true, options = {}) {
    const now = this.diagnostics(uri);
    if (options.from === undefined && now && predicate(now.diagnostics)) return Promise.resolve(now);
    return this.waitForNotification(
      'textDocument/publishDiagnostics',
      (params) => params.uri === uri && predicate(params.diagnostics),
      { what: `diagnostics of ${uri}`, from: this.received.length, ...options },
    );
  }

  /** What was last published for the document, or undefined. */
  diagnostics(uri) {
    return this.received.findLast(
      (message) => message.method === 'textDocument/publishDiagnostics' && message.params.uri === uri,
    )?.params;
  }

  // ---- What an editor does ----

  /** The handshake. `folders` are URIs. Returns the InitializeResult. */
  async initialize({ folders = [], capabilities = plainClient, options } = {}) {
    const result = await this.call('initialize', {
      processId: process.pid,
      clientInfo: { name: 'escrow-tests' },
      rootUri: folders[0] ?? null,
      workspaceFolders: folders.map((uri) => ({ uri, name: decodeURIComponent(uri.split('/').at(-1)) })),
      capabilities,
      ...(options === undefined ? {} : { initializationOptions: options }),
    });
    this.notify('initialized', {});
    return result;
  }

  /** `shutdown`, `exit`; the exit code. */
  async shutdown() {
    await this.call('shutdown');
    this.notify('exit');
    return this.waitForExit();
  }

  async waitForExit(patienceMs = kPatienceMs) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(this.#failure(`waited ${patienceMs} ms for the server to end`)), patienceMs);
    });
    return Promise.race([this.exit, late]).finally(() => clearTimeout(timer));
  }

  /** Ends the process at once; for clean-up. */
  async kill() {
    this.#process.kill('SIGKILL');
    await this.exit;
  }

  open(uri, text, languageId = 'plaintext') {
    this.notify('textDocument/didOpen', { textDocument: { uri, languageId, version: 1, text } });
  }

  /** Replaces the whole text of an open document. */
  change(uri, text) {
    const version = this.documents.get(uri).version + 1;
    this.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
  }

  close(uri) {
    this.notify('textDocument/didClose', { textDocument: { uri } });
  }

  /** Code actions at a diagnostic, as the lightbulb asks for them. */
  codeActions(uri, diagnostic) {
    return this.call('textDocument/codeAction', {
      textDocument: { uri },
      range: diagnostic.range,
      context: { diagnostics: [diagnostic], triggerKind: 1 },
    });
  }

  hover(uri, position) {
    return this.call('textDocument/hover', { textDocument: { uri }, position });
  }

  /** Runs the command of a code action or lens. */
  runCommand({ command, arguments: args }) {
    return this.call('workspace/executeCommand', { command, arguments: args });
  }

  /**
   * The person's answer to the next window/showMessageRequest, or to the one that stands open: a title, or null for
   * closing it without a choice. Without an answer it stays open, as on a screen nobody looks at.
   */
  choose(title) {
    this.#choices.push(title);
    this.#answerQuestions();
  }

  /** The whole exchange as text, one message a line. */
  traceText() {
    return traceText(this.trace);
  }

  // ---- Receiving ----

  #receive(message) {
    this.trace.push({ direction: '<-', message });
    this.received.push(message);
    for (const waiter of [...this.#waiters]) {
      if (!waiter.predicate(message)) continue;
      this.#waiters.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.resolve(message);
    }
    if (message.id !== undefined && message.method !== undefined) this.#answer(message);
    if (message.method === '$/cancelRequest') this.#withdrawQuestion(message.params.id);
    if (message.result?.capabilities) {
      this.documents.encoding = message.result.capabilities.positionEncoding ?? 'utf-16';
    }
  }

  #answer({ id, method, params }) {
    const custom = this.handlers.get(method);
    if (custom) return this.send({ id, result: custom(params) ?? null });
    switch (method) {
      case 'workspace/applyEdit':
        return this.#applyEdit(id, params);
      case 'window/showMessageRequest':
        this.#questions.push({ id, actions: params.actions ?? [] });
        return this.#answerQuestions();
      case 'window/showDocument':
        return this.send({ id, result: { success: true } });
      case 'workspace/configuration':
        return this.send({ id, result: params.items.map(({ section }) => this.settings[section] ?? null) });
      case 'window/workDoneProgress/create':
      case 'client/registerCapability':
      case 'client/unregisterCapability':
      case 'workspace/codeLens/refresh':
      case 'workspace/textDocumentContent/refresh':
        return this.send({ id, result: null });
      default:
        return this.send({ id, error: { code: -32601, message: `method not found: ${method}` } });
    }
  }

  #answerQuestions() {
    while (this.#questions.length > 0 && this.#choices.length > 0) {
      const { id, actions } = this.#questions.shift();
      const title = this.#choices.shift();
      const action = actions.find((each) => each.title === title);
      if (title !== null && !action) {
        return this.#end(`nothing called "${title}" was offered, only ${JSON.stringify(actions)}`);
      }
      this.send({ id, result: action ?? null });
    }
  }

  #withdrawQuestion(id) {
    const index = this.#questions.findIndex((question) => question.id === id);
    if (index < 0) return;
    this.#questions.splice(index, 1);
    this.send({ id, error: { code: -32800, message: 'cancelled' } });
  }

  #applyEdit(id, { edit }) {
    if (this.editing === 'ignore') return;
    if (this.editing === 'lie') return this.send({ id, result: { applied: true } });
    const changes = edit.documentChanges ?? [];
    const refusal = this.editing === 'decline' ? 'the person declined' : this.#whyNot(changes, edit);
    if (refusal) return this.send({ id, result: { applied: false, failureReason: refusal } });
    for (const { textDocument, edits } of changes) {
      const { uri, version, text } = this.documents.get(textDocument.uri);
      const newText = applyEdits(text, edits, this.documents.encoding);
      this.notify('textDocument/didChange', {
        textDocument: { uri, version: version + 1 },
        contentChanges: [{ text: newText }],
      });
    }
    this.send({ id, result: { applied: true } });
  }

  #whyNot(changes, edit) {
    if (edit.changes) return 'only documentChanges are understood here';
    for (const { kind, textDocument } of changes) {
      if (kind !== undefined) return `the resource operation ${kind} was not offered`;
      const document = this.documents.get(textDocument.uri);
      if (!document) return `${textDocument.uri} is not open`;
      if (textDocument.version !== null && textDocument.version !== document.version) {
        return `${textDocument.uri} is at version ${document.version}, not ${textDocument.version}`;
      }
    }
    return null;
  }

  #end(reason) {
    this.#ended ??= reason;
    for (const waiter of this.#waiters) {
      clearTimeout(waiter.timer);
      waiter.reject(this.#failure(`waited for ${waiter.what}, but ${this.#ended}`));
    }
    this.#waiters.clear();
  }

  #failure(reason) {
    const error = new Error(reason);
    error.trace = this.traceText();
    error.stderr = this.stderr;
    return error;
  }
}

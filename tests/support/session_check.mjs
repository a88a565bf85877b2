// What must hold of every message a server sends, whatever the session was about: the base protocol's rules, LSP's
// shapes by the type guards of vscode-languageserver-types, and the promises of protocol/README.md.
//
//     const faults = checkSession({ trace: client.trace, wire: Buffer.concat(client.wire), shapes, secrets: [] });
//
// Each fault is one line that names the message.
import * as lsp from 'vscode-languageserver-types';

/** Codes an error answer may have, with the `data.kind` that Escrow's own carry. */
const kStandardCodes = new Set([-32700, -32600, -32601, -32602, -32603, -32002, -32800, -32801, -32802, -32803]);
const kEscrowKinds = {
  4001: 'unknownAgent',
  4003: 'roleForbidden',
  4004: 'notFound',
  4009: 'stateConflict',
  4010: 'nonceInvalid',
  4012: 'stale',
  4013: 'limitExceeded',
  4022: 'badChange',
  4030: 'outsideRoots',
  4031: 'symlinkOrDeviceRefused',
  4050: 'sandboxUnavailable',
  4051: 'execNotRunning',
  4060: 'clientCannot',
  4070: 'locked',
};

const kBeforeInitialized = new Set([
  'window/showMessage',
  'window/logMessage',
  'telemetry/event',
  'window/showMessageRequest',
  '$/progress',
]);

/** Group of `experimental.escrow.notifications` that each of Escrow's notifications belongs to. */
const kNotificationGroups = {
  'escrow/review/changed': 'review',
  'escrow/grants/changed': 'grants',
  'escrow/status/changed': 'status',
  'escrow/execute/output': 'exec',
  'escrow/execute/exited': 'exec',
};

/** Requests a server may send, and the client capability each needs. */
const kServerRequests = {
  'workspace/applyEdit': (client) => client.workspace?.applyEdit,
  'workspace/configuration': (client) => client.workspace?.configuration,
  'workspace/codeLens/refresh': (client) => client.workspace?.codeLens?.refreshSupport,
  'workspace/textDocumentContent/refresh': (client) => client.workspace?.textDocumentContent,
  'window/showMessageRequest': (client) => client.window?.showMessage,
  'window/showDocument': (client) => client.window?.showDocument?.support,
  'window/workDoneProgress/create': (client) => client.window?.workDoneProgress,
  'client/registerCapability': () => true,
  'client/unregisterCapability': () => true,
};

/** Where a nonce may stand: the person's own surfaces. */
const kNoncePlaces = new Set([
  'textDocument/codeAction',
  'textDocument/codeLens',
  'escrow/review/nonce',
  'escrow/grants/nonce',
]);

/** Where the text of a change is the point. Everywhere else a secret must have been masked. */
const kTextPlaces = new Set(['escrow/review/content', 'workspace/textDocumentContent', 'workspace/applyEdit']);

const isString = (value) => typeof value === 'string';
const isInteger = (value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 31;
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isOptional = (value, is) => value === undefined || is(value);

function hasKey(value, key) {
  if (value === null || typeof value !== 'object') return false;
  if (!Array.isArray(value) && key in value) return true;
  return Object.values(value).some((each) => hasKey(each, key));
}

function before(a, b) {
  return a.line < b.line || (a.line === b.line && a.character <= b.character);
}

// ---- Shapes of what LSP defines ----

function* diagnosticFaults(diagnostic) {
  if (!lsp.Diagnostic.is(diagnostic)) return yield 'is no Diagnostic';
  if (!before(diagnostic.range.start, diagnostic.range.end)) yield 'its range ends before it starts';
  if (diagnostic.source !== 'escrow') yield 'its source is not "escrow"';
  if (!isString(diagnostic.code)) yield 'it has no rule id as its code';
  if (![1, 2, 3, 4].includes(diagnostic.severity)) yield 'it has no severity';
  if (!isOptional(diagnostic.codeDescription, lsp.CodeDescription.is)) yield 'its codeDescription is none';
  for (const related of diagnostic.relatedInformation ?? []) {
    if (!lsp.DiagnosticRelatedInformation.is(related)) yield 'its relatedInformation is none';
  }
}

function* publishDiagnosticsFaults({ uri, version, diagnostics }) {
  if (!lsp.DocumentUri.is(uri)) yield 'uri is no DocumentUri';
  if (!isOptional(version, isInteger)) yield 'version is no integer';
  if (!Array.isArray(diagnostics)) return yield 'diagnostics is no array';
  for (const [i, each] of diagnostics.entries()) {
    for (const fault of diagnosticFaults(each)) yield `diagnostics[${i}]: ${fault}`;
  }
}

function* messageFaults({ type, message }) {
  if (![1, 2, 3, 4].includes(type)) yield 'type is no MessageType of LSP 3.17';
  if (!isString(message) || message === '') yield 'message is empty';
}

function* showMessageRequestFaults(params) {
  yield* messageFaults(params);
  const titles = (params.actions ?? []).map((action) => action.title);
  if (!titles.every(isString)) yield 'an action has no title';
  if (new Set(titles).size !== titles.length) yield 'two actions have one title, which some clients go by';
}

function* applyEditFaults(params) {
  const extra = Object.keys(params).filter((key) => key !== 'label' && key !== 'edit');
  if (extra.length > 0) yield `${extra} is sent beside label and edit, which some clients refuse`;
  if (!lsp.WorkspaceEdit.is(params.edit)) return yield 'edit is no WorkspaceEdit';
  const changes = params.edit.documentChanges ?? [];
  const uris = changes.filter(lsp.TextDocumentEdit.is).map((change) => change.textDocument.uri);
  if (new Set(uris).size !== uris.length) yield 'a file has two TextDocumentEdits';
  for (const { textDocument } of changes.filter(lsp.TextDocumentEdit.is)) {
    if (!('version' in textDocument)) yield `${textDocument.uri} is sent without a version`;
  }
}

function* showDocumentFaults({ uri, selection }) {
  if (!lsp.URI.is(uri)) yield 'uri is no URI';
  if (!isOptional(selection, lsp.Range.is)) yield 'selection is no Range';
}

function* registrationFaults({ registrations }) {
  for (const { id, method } of registrations ?? []) {
    if (!isString(id) || !isString(method)) yield 'a registration has no id or no method';
  }
}

const kParamsFaults = {
  'textDocument/publishDiagnostics': publishDiagnosticsFaults,
  'window/showMessage': messageFaults,
  'window/logMessage': messageFaults,
  'window/showMessageRequest': showMessageRequestFaults,
  'workspace/applyEdit': applyEditFaults,
  'window/showDocument': showDocumentFaults,
  'client/registerCapability': registrationFaults,
  '$/progress': function* () {}, // CheckedSession follows its streams
  '$/cancelRequest': function* ({ id }) {
    if (!isInteger(id) && !isString(id)) yield 'id is no id';
  },
  '$/logTrace': function* ({ message }) {
    if (!isString(message)) yield 'message is no string';
  },
  'telemetry/event': function* () {},
};

/** Where a command stands among the actions of one review: the harmless before the lasting. */
const kConsentOrder = [
  'escrow.review.show',
  'escrow.decision.deny',
  'escrow.review.reject',
  'escrow.decision.allowOnce',
  'escrow.decision.allowSession',
  'escrow.decision.allowWorkspace',
];

function* orderFaults(commands) {
  const last = new Map(); // review id → rank
  for (const { command, arguments: [argument] = [] } of commands) {
    const rank = kConsentOrder.indexOf(command);
    if (rank < 0 || argument?.reviewId === undefined) continue;
    if (rank < (last.get(argument.reviewId) ?? -1)) yield `${command} stands too late: Show, Deny, then the allowing ones`;
    last.set(argument.reviewId, rank);
  }
}

/** The actions in the order of consent, and nothing that any client would do unasked. */
function* codeActionFaults(actions, session) {
  if (actions === null) return;
  if (!Array.isArray(actions)) return yield 'is no array';
  for (const [i, action] of actions.entries()) {
    const at = `[${i}]`;
    const bare = lsp.Command.is(action);
    if (!bare && !lsp.CodeAction.is(action)) {
      yield `${at} is neither a Command nor a CodeAction`;
      continue;
    }
    const command = bare ? action : action.command;
    if (!command) yield `${at} has no command, which is all that works in every client`;
    else if (!session.commands.has(command.command)) yield `${at} names ${command.command}, which was not announced`;
    if (bare) continue;
    if (action.edit) yield `${at} has an edit, which would pass no gate`;
    if (action.isPreferred) yield `${at} is preferred: some clients apply that unasked`;
    if (action.disabled) yield `${at} is disabled: some clients run it all the same`;
    if (action.kind !== 'quickfix') yield `${at} is of kind ${action.kind}, not quickfix`;
  }
  yield* orderFaults(actions.map((action) => (lsp.Command.is(action) ? action : action.command)).filter(Boolean));
  const titles = actions.map((action) => action.title);
  if (new Set(titles).size !== titles.length) yield 'two actions have one title';
  if (actions.length === 1) yield 'there is a single action, which some clients take unasked';
}

function* codeLensFaults(lenses, session) {
  for (const [i, lens] of (lenses ?? []).entries()) {
    if (!lsp.CodeLens.is(lens)) yield `[${i}] is no CodeLens`;
    else if (lens.command && !session.commands.has(lens.command.command)) {
      yield `[${i}] names ${lens.command.command}, which was not announced`;
    }
  }
}

function* initializeFaults({ capabilities, serverInfo }, session) {
  if (!isObject(capabilities)) return yield 'capabilities is no object';
  if (!isOptional(serverInfo, (info) => isString(info.name))) yield 'serverInfo has no name';
  const offered = session.client.general?.positionEncodings ?? ['utf-16'];
  const chosen = capabilities.positionEncoding ?? 'utf-16';
  if (!offered.includes(chosen) && chosen !== 'utf-16') yield `position encoding ${chosen} was not offered`;
  if (new Set(session.commands).size === 0) yield 'no command is announced';
}

const kResultFaults = {
  initialize: initializeFaults,
  shutdown: function* (result) {
    if (result !== null) yield 'is not null';
  },
  'textDocument/hover': function* (result) {
    if (result !== null && !lsp.Hover.is(result)) yield 'is no Hover';
  },
  'textDocument/codeAction': codeActionFaults,
  'textDocument/codeLens': codeLensFaults,
  'workspace/executeCommand': function* (result) {
    if (result !== null) yield 'is not null: a command is answered at once, and works on';
  },
  'workspace/textDocumentContent': function* (result) {
    if (!isString(result?.text)) yield 'has no text';
  },
};

// ---- The session ----

class CheckedSession {
  faults = [];
  client = {};
  commands = new Set();
  #shapes;
  #secrets;
  #initialized = false;
  #asked = new Map(); // id as JSON → methods of the client's open requests; two only if it used an id twice
  #used = new Set(); // ids of the server's requests
  #progress = new Map(); // token as JSON → created | begun | ended
  #rawText;

  constructor({ trace, shapes, secrets }) {
    this.#shapes = shapes;
    this.#secrets = secrets;
    const raw = trace.filter((entry) => entry.raw !== undefined).map((entry) => Buffer.from(entry.raw));
    this.#rawText = Buffer.concat(raw).toString('utf8');
  }

  fromClient(message) {
    if (!isObject(message) || message.id === undefined || !isString(message.method)) return;
    const id = JSON.stringify(message.id);
    this.#asked.set(id, [...(this.#asked.get(id) ?? []), message.method]);
    if (message.method === 'initialize' && !this.#initialized) this.client = message.params?.capabilities ?? {};
    const token = message.params?.workDoneToken;
    if (token !== undefined) this.#progress.set(JSON.stringify(token), 'created');
  }

  fromServer(message) {
    const kind = this.#envelope(message);
    if (kind === null) return;
    if (kind === 'response') this.#response(message);
    else if (kind === 'request') this.#request(message);
    else this.#notification(message);
    this.#leaks(message);
  }

  atEnd() {
    for (const [id, methods] of this.#asked) {
      for (const method of methods) this.faults.push(`${method} (id ${id}) was never answered`);
    }
    for (const [token, state] of this.#progress) {
      if (state === 'begun') this.faults.push(`progress ${token} was begun and never ended`);
    }
  }

  #fault(message, reason) {
    const text = JSON.stringify(message);
    this.faults.push(`${reason}: ${text.length > 600 ? `${text.slice(0, 600)}…` : text}`);
  }

  #envelope(message) {
    const bad = (reason) => (this.#fault(message, reason), null);
    if (!isObject(message) || message.jsonrpc !== '2.0') return bad('is no JSON-RPC 2.0 message');
    const known = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
    const extra = Object.keys(message).filter((key) => !known.includes(key));
    if (extra.length > 0) return bad(`has the unknown members ${extra}`);
    if (message.method !== undefined) {
      if (!isString(message.method)) return bad('method is no string');
      if (message.params !== undefined && !isObject(message.params)) return bad('params is no object');
      if ('result' in message || 'error' in message) return bad('is a request and an answer at once');
      if (message.id === undefined) return 'notification';
      return isInteger(message.id) || isString(message.id) ? 'request' : bad('id is no id');
    }
    if ('result' in message === 'error' in message) return bad('has not exactly one of result and error');
    if (message.id === undefined) return bad('has neither a method nor an id');
    return 'response';
  }

  #response(message) {
    const id = JSON.stringify(message.id);
    const open = this.#asked.get(id) ?? [];
    const method = message.error ? open.pop() : open.shift();
    if (message.error) this.#errorAnswer(message);
    if (method === undefined) return this.#unexpectedAnswer(message);
    if (message.error) return;
    if (method === 'initialize') this.#initializeResult(message.result);
    this.#check(message, kResultFaults[method]?.(message.result, this), `the result of ${method}`);
    if (method.startsWith('escrow/')) this.#shape(message, method, 'result', message.result);
    if (hasKey(message.result, 'nonce') && !kNoncePlaces.has(method)) {
      this.#fault(message, `the result of ${method} holds a nonce`);
    }
    this.answered = method;
  }

  /** An answer to what was sent raw, or to what could not be read at all. */
  #unexpectedAnswer(message) {
    const unread = message.id === null && [-32700, -32600].includes(message.error?.code);
    const sentRaw = message.id !== null && this.#rawText.includes(JSON.stringify(message.id));
    if (!unread && !sentRaw) this.#fault(message, 'answers no open request');
  }

  #errorAnswer(message) {
    const { code, message: text, data } = message.error;
    if (!isInteger(code)) return this.#fault(message, 'the error has no integer code');
    if (!isString(text) || text === '') this.#fault(message, 'the error says nothing');
    const kind = kEscrowKinds[code];
    if (kind !== undefined && data?.kind !== kind) this.#fault(message, `error ${code} without data.kind "${kind}"`);
    if (kind === undefined && !kStandardCodes.has(code)) this.#fault(message, `${code} is no code of the protocol`);
  }

  #initializeResult(result) {
    this.#initialized = true;
    this.commands = new Set(result?.capabilities?.executeCommandProvider?.commands ?? []);
  }

  #request(message) {
    const { id, method, params } = message;
    const able = kServerRequests[method];
    if (this.#used.has(JSON.stringify(id))) this.#fault(message, 'uses an id for the second time');
    this.#used.add(JSON.stringify(id));
    if (!able) return this.#fault(message, 'is a request that clients do not know');
    if (!able(this.client)) this.#fault(message, 'was sent to a client that cannot take it');
    if (!this.#initialized && !kBeforeInitialized.has(method)) this.#fault(message, 'came before initialize was answered');
    if (method === 'window/workDoneProgress/create') this.#progress.set(JSON.stringify(params.token), 'created');
    this.#check(message, kParamsFaults[method]?.(params), method);
  }

  #notification(message) {
    const { method, params } = message;
    if (!this.#initialized && !kBeforeInitialized.has(method)) this.#fault(message, 'came before initialize was answered');
    if (method.startsWith('escrow/')) return this.#escrowNotification(message);
    if (!(method in kParamsFaults)) return this.#fault(message, 'is a notification that clients do not know');
    this.#check(message, kParamsFaults[method](params ?? {}), method);
    if (method === '$/progress') this.#progressStep(message);
  }

  #escrowNotification(message) {
    const group = kNotificationGroups[message.method];
    const wanted = this.client.experimental?.escrow?.notifications ?? [];
    if (!group) return this.#fault(message, 'is no notification of the protocol');
    if (!wanted.includes(group)) this.#fault(message, `was sent to a client that did not ask for "${group}"`);
    this.#shape(message, message.method, 'params', message.params);
    if (hasKey(message.params, 'nonce')) this.#fault(message, 'holds a nonce');
  }

  #progressStep(message) {
    const { token, value } = message.params;
    const key = JSON.stringify(token);
    const state = this.#progress.get(key);
    if (state === undefined) return this.#fault(message, 'progress on a token that nobody made');
    const steps = { begin: ['created', 'begun'], report: ['begun', 'begun'], end: ['begun', 'ended'] };
    const step = steps[value?.kind];
    if (!step) return this.#fault(message, 'value.kind is none of begin, report, end');
    if (state !== step[0]) this.#fault(message, `progress: ${value.kind} after ${state}`);
    if (value.kind === 'begin' && !isString(value.title)) this.#fault(message, 'progress begins without a title');
    this.#progress.set(key, step[1]);
  }

  #check(message, faults, what) {
    for (const fault of faults ?? []) this.#fault(message, `${what}: ${fault}`);
  }

  #shape(message, method, part, value) {
    if (!this.#shapes) return;
    for (const reason of this.#shapes.faults(method, part, value)) this.#fault(message, `${method} ${part}: ${reason}`);
  }

  #leaks(message) {
    if (this.#secrets.length === 0) return;
    const place = message.method ?? this.answered;
    if (kTextPlaces.has(place)) return;
    const text = JSON.stringify(message);
    if (this.#secrets.some((secret) => text.includes(secret))) this.#fault(message, 'shows a whole secret');
  }
}

/** Every frame is exactly `Content-Length: N`, CRLF, CRLF, N bytes: some clients match the header to the letter. */
function* wireFaults(wire) {
  const kHeader = /^Content-Length: (0|[1-9]\d*)\r\n\r\n/;
  let at = 0;
  while (at < wire.length) {
    const header = kHeader.exec(wire.subarray(at, at + 64).toString('latin1'));
    if (!header) return yield `byte ${at} of the output starts no frame: ${JSON.stringify(wire.subarray(at, at + 80).toString('latin1'))}`;
    const body = wire.subarray(at + header[0].length, at + header[0].length + Number(header[1]));
    if (body.length < Number(header[1])) return yield `the output ends within the frame at byte ${at}`;
    if (!Buffer.from(body.toString('utf8')).equals(body)) yield `the body at byte ${at} is no UTF-8`;
    at += header[0].length + body.length;
  }
}

/**
 * @param trace as LspClient keeps it
 * @param wire every byte the server wrote
 * @param shapes the types of Escrow's own messages (escrow_shapes.mjs); without it Escrow's own messages are not looked into
 * @param secrets texts that must never be seen whole
 * @returns faults, one line each
 */
export function checkSession({ trace, wire = Buffer.alloc(0), shapes = null, secrets = [] }) {
  const session = new CheckedSession({ trace, shapes, secrets });
  for (const { direction, message } of trace) {
    if (message === undefined) continue;
    if (direction === '->') session.fromClient(message);
    else session.fromServer(message);
  }
  session.atEnd();
  return [...wireFaults(wire), ...session.faults];
}

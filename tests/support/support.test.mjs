// The checks of the transcripts, held to planted faults: a check that finds nothing must have looked.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { escrowClient, plainClient } from './client_capabilities.mjs';
import { codeBlocks, EscrowShapes, kSpecification, readEscrowShapes } from './escrow_shapes.mjs';
import { mismatch, substitute } from './json_match.mjs';
import { checkAgainstMetaModel } from './meta_model.mjs';
import { checkSession } from './session_check.mjs';
import { applyEdits, Documents, offsetAt, positionAt } from './text_document.mjs';

const at = (line, character) => ({ line, character });
const range = (a, b, c, d) => ({ start: at(a, b), end: at(c, d) });

test('a position counts the units of its encoding', () => {
  const text = 'a\u{1F512}é\r\nb\rc\n';
  const rows = [
    ['utf-16', 0, 3, 3],
    ['utf-8', 0, 5, 3],
    ['utf-32', 0, 2, 3],
    ['utf-16', 0, 99, 4], // beyond the line's end
    ['utf-16', 1, 0, 6],
    ['utf-16', 2, 1, 9],
    ['utf-16', 3, 0, 10],
    ['utf-16', 9, 0, 10],
  ];
  for (const [encoding, line, character, offset] of rows) {
    assert.equal(offsetAt(text, at(line, character), encoding), offset, `${encoding} ${line}:${character}`);
  }
  assert.deepEqual(positionAt(text, 3, 'utf-8'), at(0, 5));
  assert.deepEqual(positionAt(text, 9, 'utf-16'), at(2, 1));
});

test('a position that splits a character is the server’s fault', () => {
  assert.throws(() => offsetAt('\u{1F512}', at(0, 1), 'utf-16'), /splits/);
  assert.throws(() => offsetAt('é', at(0, 1), 'utf-8'), /splits/);
});

test('edits are of the text before all of them, and may not overlap', () => {
  const edits = [
    { range: range(0, 4, 0, 7), newText: 'B' },
    { range: range(0, 0, 0, 3), newText: 'A' },
    { range: range(0, 3, 0, 3), newText: '-' },
  ];
  assert.equal(applyEdits('one two', edits), 'A- B');
  assert.throws(() => applyEdits('one', [edits[1], { range: range(0, 2, 0, 3), newText: '' }]), /overlap/);
});

test('documents follow what the client says of them', () => {
  const documents = new Documents();
  const textDocument = { uri: 'file:///a', languageId: 'x', version: 1, text: 'one\n' };
  documents.follow({ method: 'textDocument/didOpen', params: { textDocument } });
  const contentChanges = [{ range: range(0, 0, 0, 1), text: 'O' }, { range: range(0, 3, 0, 3), text: '!' }];
  documents.follow({ method: 'textDocument/didChange', params: { textDocument: { uri: 'file:///a', version: 5 }, contentChanges } });
  assert.equal(documents.get('file:///a').text, 'One!\n');
  assert.equal(documents.get('file:///a').version, 5);
  documents.follow({ method: 'textDocument/didClose', params: { textDocument: { uri: 'file:///a' } } });
  assert.equal(documents.get('file:///a'), undefined);
});

test('a pattern matches what it names, and nothing else', () => {
  const matches = [
    [{}, { a: 1 }],
    [{ a: '{{*}}' }, { a: null }],
    [{ a: '{{absent}}' }, { b: 1 }],
    [{ a: '{{/o.e/}}' }, { a: 'one' }],
    [{ a: '{{>= 3}}' }, { a: 3 }],
    [[1, '{{...}}'], [1, 2, 3]],
    [['{{...}}', { a: 2 }, '{{...}}'], [{ a: 1 }, { a: 2 }]],
    [['{{...}}', 1, '{{...}}', 1], [1, 2, 1]],
    [['{{x}}', '{{x}}'], [[1], [1]]],
    ['a {{x}} b', 'a 7 b', { x: 7 }],
  ];
  for (const [pattern, value, bindings] of matches) {
    assert.equal(mismatch(pattern, value, '', bindings ?? {}), null, JSON.stringify(pattern));
  }
  const differences = [
    [{ a: 1 }, { a: '1' }],
    [{ a: 1 }, null],
    [{ a: '{{*}}' }, {}],
    [{ a: '{{absent}}' }, { a: null }],
    [{ a: '{{/^n/}}' }, { a: 'one' }],
    [{ a: '{{> 3}}' }, { a: 3 }],
    [{ a: '{{> 3}}' }, { a: '4' }],
    [[1], [1, 2]],
    [['{{...}}', 1, '{{...}}', 1], [1, 2]],
    [['{{x}}', '{{x}}'], [1, 2]],
    [{ a: {} }, { a: [] }],
  ];
  for (const [pattern, value] of differences) {
    assert.notEqual(mismatch(pattern, value, '', {}), null, JSON.stringify(pattern));
  }
});

test('a reason names the path, and a name that is not known is an error', () => {
  assert.match(mismatch({ a: [{ b: 1 }] }, { a: [{ b: 2 }] }), /^a\[0\]\.b: /);
  assert.throws(() => substitute({ a: '{{nobody}}' }, {}), /nobody/);
  assert.deepEqual(substitute({ a: '{{x}}', b: 'is {{x}}' }, { x: 1 }), { a: 1, b: 'is 1' });
});

// ---- Sessions ----

const client = (message) => ({ direction: '->', message: { jsonrpc: '2.0', ...message } });
const server = (message) => ({ direction: '<-', message: { jsonrpc: '2.0', ...message } });
const commands = ['escrow.review.show', 'escrow.decision.deny', 'escrow.decision.allowOnce'];
const opening = (capabilities = plainClient) => [
  client({ id: 1, method: 'initialize', params: { processId: null, rootUri: null, capabilities } }),
  server({ id: 1, result: { capabilities: { positionEncoding: 'utf-16', executeCommandProvider: { commands } }, serverInfo: { name: 'escrow' } } }),
];
const diagnostic = { range: range(0, 0, 0, 1), severity: 1, code: 'x', source: 'escrow', message: 'm' };
const action = (command, argument = { reviewId: 'r' }) => ({
  title: command,
  kind: 'quickfix',
  command: { title: command, command, arguments: [argument] },
});
const publish = (diagnostics) => server({ method: 'textDocument/publishDiagnostics', params: { uri: 'file:///a', diagnostics } });
const answered = (method, result, params = {}) => [client({ id: 2, method, params }), server({ id: 2, result })];
const failed = (error) => [client({ id: 2, method: 'escrow/status' }), server({ id: 2, error })];
const actions = (...list) => answered('textDocument/codeAction', list);
const good = [action(commands[0]), action(commands[1]), action(commands[2])];
const progress = (token, value) => server({ method: '$/progress', params: { token, value } });

test('a session without faults has none', () => {
  const trace = [
    ...opening(escrowClient),
    publish([diagnostic]),
    ...actions(...good),
    client({ id: 3, method: 'escrow/toolCall', params: { workDoneToken: 't' } }),
    progress('t', { kind: 'begin', title: 'x' }),
    progress('t', { kind: 'end' }),
    server({ id: 3, error: { code: 4010, message: 'no', data: { kind: 'nonceInvalid' } } }),
    server({ method: 'escrow/review/changed', params: {} }),
  ];
  assert.deepEqual(checkSession({ trace }), []);
});

const planted = {
  'a request that is never answered': [[...opening(), client({ id: 9, method: 'shutdown' })], /never answered/],
  'an answer to nothing': [[...opening(), server({ id: 9, result: null })], /answers no open request/],
  'a second answer': [[...opening(), ...answered('shutdown', null), server({ id: 2, result: null })], /answers no open request/],
  'result and error together': [[...opening(), server({ id: 1, result: 1, error: { code: 1, message: 'x' } })], /exactly one/],
  'a missing version': [[{ direction: '<-', message: { method: 'x' } }], /no JSON-RPC/],
  'an unknown member': [[...opening(), server({ method: '$/logTrace', params: { message: 'x' }, trace: 1 })], /unknown members/],
  'a notification before the handshake': [[publish([])], /before initialize/],
  'a notification nobody knows': [[...opening(), server({ method: 'escrow/hello', params: {} })], /no notification of the protocol/],
  'a notification nobody asked for': [[...opening(), server({ method: 'escrow/review/changed', params: {} })], /did not ask/],
  'a request clients do not know': [[...opening(), server({ id: 1, method: 'escrow/ask', params: {} })], /clients do not know/],
  'a request the client cannot take': [[...opening(), server({ id: 1, method: 'window/showMessageRequest', params: { type: 1, message: 'x' } })], /cannot take it/],
  'an error code of no table': [[...opening(), ...failed({ code: 4444, message: 'x' })], /no code of the protocol/],
  'an error without its kind': [[...opening(), ...failed({ code: 4001, message: 'x' })], /data\.kind/],
  'an error that says nothing': [[...opening(), ...failed({ code: -32803, message: '' })], /says nothing/],
  'a range turned round': [[...opening(), publish([{ ...diagnostic, range: range(1, 0, 0, 0) }])], /ends before it starts/],
  'no Diagnostic': [[...opening(), publish([{ ...diagnostic, range: undefined }])], /is no Diagnostic/],
  'a diagnostic of nobody': [[...opening(), publish([{ ...diagnostic, source: undefined }])], /source/],
  'a preferred action': [[...opening(), ...actions({ ...good[0], isPreferred: true }, good[1])], /preferred/],
  'an action with an edit': [[...opening(), ...actions({ ...good[0], edit: { changes: {} } }, good[1])], /pass no gate/],
  'a single action': [[...opening(), ...actions(good[0])], /single action/],
  'an unannounced command': [[...opening(), ...actions(good[0], action('escrow.other'))], /not announced/],
  'allowing before denying': [[...opening(), ...actions(good[0], good[2], good[1])], /too late/],
  'two actions of one title': [[...opening(), ...actions(good[0], good[0])], /one title/],
  'no Hover': [[...opening(), ...answered('textDocument/hover', { contents: 3 })], /no Hover/],
  'a command with a result': [[...opening(), ...answered('workspace/executeCommand', {})], /not null/],
  'an edit without a version': [[...opening(), server({ id: 1, method: 'workspace/applyEdit', params: { edit: { documentChanges: [{ textDocument: { uri: 'file:///a' }, edits: [] }] } } })], /version|no WorkspaceEdit/],
  'an edit with more than its due': [[...opening(), server({ id: 1, method: 'workspace/applyEdit', params: { metadata: {}, edit: { changes: {} } } })], /some clients refuse/],
  'progress on no token': [[...opening(), progress('t', { kind: 'begin', title: 'x' })], /nobody made/],
  'progress without an end': [[...opening(), ...answered('escrow/status', {}, { workDoneToken: 't' }), progress('t', { kind: 'begin', title: 'x' })], /never ended/],
  'progress that ends twice': [[...opening(), ...answered('escrow/status', {}, { workDoneToken: 't' }), progress('t', { kind: 'begin', title: 'x' }), progress('t', { kind: 'end' }), progress('t', { kind: 'end' })], /end after ended/],
  'a nonce in an agent’s answer': [[...opening(), ...answered('escrow/toolCall', { remedies: [{ nonce: 'x' }] })], /holds a nonce/],
  'a whole secret': [[...opening(), publish([{ ...diagnostic, message: 'it is hush-hush-hush' }])], /whole secret/],
};
for (const [name, [trace, reason]] of Object.entries(planted)) {
  test(`the session check finds ${name}`, () => {
    const faults = checkSession({ trace, secrets: ['hush-hush-hush'] });
    assert.ok(faults.some((fault) => reason.test(fault)), `not found; found: ${faults.join('\n')}`);
  });
}

test('the frame check wants the header to the letter', () => {
  const frames = (text) => checkSession({ trace: [], wire: Buffer.from(text) });
  assert.deepEqual(frames('Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\n"é"'), []);
  for (const text of ['content-length: 2\r\n\r\n{}', 'Content-Length: 2\n\n{}', 'hello\n', 'Content-Length: 5\r\n\r\n{}', 'Content-Length: 2\r\n\r\n{} ']) {
    assert.equal(frames(text).length, 1, JSON.stringify(text));
  }
});

// ---- Shapes ----

const listing = `
type Level = "low" | "high";   // how bad
interface Base { id: string; note?: string }
interface Thing extends Base { level: Level; parts: { n: integer; s: string | null }[]; extra?: Record<string, number> }
result escrow/get Thing | null
params escrow/told
  Thing & { when: number }
`;

test('a shape is what the listing says, and no more', () => {
  const shapes = new EscrowShapes(listing);
  const thing = { id: 'a', level: 'low', parts: [{ n: 1, s: null }] };
  assert.deepEqual(shapes.faults('escrow/get', 'result', thing), []);
  assert.deepEqual(shapes.faults('escrow/get', 'result', null), []);
  assert.deepEqual(shapes.faults('escrow/told', 'params', { ...thing, when: 3, extra: { a: 1 } }), []);
  const faults = [
    [{ ...thing, level: 'middling' }, /result\.level/],
    [{ ...thing, parts: [{ n: 1.5, s: '' }] }, /result\.parts\[0\]\.n: expected integer/],
    [{ ...thing, parts: [{ n: 1 }] }, /result\.parts\[0\]\.s: is missing/],
    [{ ...thing, more: 1 }, /result\.more: is not in the listing/],
    [{ ...thing, extra: { a: 'x' } }, /result\.extra\.a/],
  ];
  for (const [value, reason] of faults) {
    assert.match(shapes.faults('escrow/get', 'result', value).join('\n'), reason);
  }
  assert.equal(shapes.faults('escrow/unknown', 'result', {}).length, 1);
});

test('the examples of the specification are of the types that the checks use', () => {
  const shapes = readEscrowShapes();
  const examples = codeBlocks(fs.readFileSync(kSpecification, 'utf8')).filter(({ words }) => words.startsWith('json '));
  let checked = 0;
  for (const { words, text } of examples) {
    const [, name, part] = words.split(' ');
    const value = JSON.parse(text);
    if (shapes.knows(name, part)) assert.deepEqual(shapes.faults(name, part, value), [], words);
    else if (['Subject', 'Change', 'Review', 'Grant'].includes(name)) assert.deepEqual(shapes.typeFaults(name, value), [], words);
    else continue;
    ++checked;
  }
  assert.ok(checked >= 30, `only ${checked} examples were found`);
});

test('every method and notification of the specification has its types', () => {
  const shapes = readEscrowShapes();
  const headings = [...fs.readFileSync(kSpecification, 'utf8').matchAll(/^### `(escrow\/[\w/]+)`(.*)$/gm)];
  for (const [, method, rest] of headings) {
    assert.ok(shapes.knows(method, rest.includes('notification') ? 'params' : 'result'), method);
  }
  assert.ok(headings.length >= 30);
});

test('the meta model finds a wrong message, where it is present', (context) => {
  const { absent, faults } = checkAgainstMetaModel([opening(), [...opening(), publish([{ ...diagnostic, severity: 9 }])]]);
  if (absent) return context.skip(`meta model not present: ${absent}`);
  assert.ok(faults.some((fault) => fault.includes('textDocument/publishDiagnostics')), faults.join('\n'));
  assert.deepEqual(checkAgainstMetaModel([[...opening(), publish([diagnostic])]]).faults, []);
});

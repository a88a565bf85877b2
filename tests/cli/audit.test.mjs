import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inPlace } from './place.mjs';

const log = (place) => join(place.state, 'audit.jsonl');
const entries = (place, ...flags) => place.json(['audit', 'show', '--json', ...flags]).entries;

/** A log with a grant, its revocation and a deny. */
function fill(place) {
  const grant = place.json(['grants', 'deny', 'shell', '--match', 'npm publish', '--json']);
  place.run(['grants', 'revoke', grant.id]);
  place.run(['grants', 'deny', 'network', '--match', 'docs.example.org']);
  return grant;
}

test('the log is filtered by kind, time, file, review and agent', () => inPlace((place) => {
  fill(place);
  assert.deepEqual(entries(place).map(({ event }) => event), ['grant', 'grant.revoke', 'grant']);
  assert.deepEqual(entries(place, '--kind', 'grant.revoke').map(({ seq }) => seq), [2]);
  assert.equal(entries(place, '--kind', 'grant').length, 3);
  assert.equal(entries(place, '--kind', 'gran').length, 0);
  assert.equal(entries(place, '--since', '1h').length, 3);
  assert.equal(entries(place, '--until', '1h').length, 0);
  assert.equal(entries(place, '--agent', 'coder').length, 0);
  assert.equal(entries(place, '-n', '1')[0].seq, 3);
  place.write('.escrow/policy.yaml', 'autonomy: low\n');
  place.run(['policy', 'accept', '--yes']);
  assert.deepEqual(entries(place, '--kind', 'policy').map(({ event, by }) => [event, by]), [['policy.accept', 'person, terminal']]);
  assert.equal(entries(place, '--file', place.root).length, 1);
  assert.match(place.run(['audit', 'show', '--review', 'r-none']).out, /^no entry of that kind: /);
  const refused = place.run(['audit', 'show', '--since', 'yesterday']);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /^escrow: audit show: --since: a span before now such as 30m/);
}));

test('verify names the first bad entry, and survives a last line that was cut off', () => inPlace((place) => {
  fill(place);
  const whole = readFileSync(log(place), 'utf8');
  appendFileSync(log(place), '{"seq":4,"time":1,"eve');
  const cut = place.json(['audit', 'verify', '--json']);
  assert.deepEqual([cut.code, cut.ok, cut.entries], [0, true, 3]);
  assert.match(cut.note, /audit\.jsonl:4: cut off/);
  assert.match(place.run(['audit', 'verify']).out, /^intact: 3 entries in one chain\nnote: .*:4: cut off/);
  place.run(['grants', 'deny', 'shell', '--match', 'npm publish']);
  const closed = place.json(['audit', 'verify', '--json']);
  assert.deepEqual([closed.ok, closed.note, closed.entries], [true, '', 5]);
  assert.deepEqual(entries(place).map(({ seq, event }) => [seq, event]).slice(3), [[4, 'torn'], [5, 'grant']]);
  const lines = whole.split('\n');
  writeFileSync(log(place), [lines[0], lines[2], ''].join('\n'));
  const broken = place.run(['audit', 'verify']);
  assert.equal(broken.code, 1);
  assert.match(broken.out, /^broken: .*audit\.jsonl:2: does not follow the line before it/);
}));

test('an anchor of a log that is gone is missed, in plain words', () => inPlace((place) => {
  const none = place.run(['audit', 'verify', '--anchor', 'f'.repeat(64)]);
  assert.equal(none.code, 1);
  assert.match(none.out, /^broken: the log is empty, and the anchor is of one that was not/);
  assert.match(place.run(['audit', 'verify']).out, /^intact: 0 entries/);
  fill(place);
  const { lastHash } = place.json(['audit', 'verify', '--json']);
  assert.equal(place.run(['audit', 'verify', '--anchor', lastHash]).code, 0);
}));

test('a followed log shows what is added, one line each, and ends when nobody reads', () => inPlace(async (place) => {
  fill(place);
  const child = spawn(process.env.ESCROW_BIN, ['audit', 'show', '-f', '-n', '1', '--json'],
    { cwd: place.root, env: place.environment(), stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (bytes) => { text += bytes; });
  const lines = (count) => new Promise((resolve) => {
    const look = () => { if (text.split('\n').length > count) resolve(text.trim().split('\n').map((line) => JSON.parse(line))); };
    child.stdout.on('data', look);
    look();
  });
  assert.deepEqual((await lines(1)).map(({ seq }) => seq), [3]);
  place.run(['grants', 'deny', 'shell', '--match', 'npm publish']);
  assert.deepEqual((await lines(2)).map(({ seq }) => seq), [3, 4]);
  const ended = new Promise((resolve) => child.on('exit', resolve));
  child.kill();
  await ended;
}));

test('what people answered is compared with what the score said', () => inPlace((place) => {
  const none = place.run(['evaluate', '--audit']);
  assert.deepEqual([none.code, none.out.startsWith('no person has answered anything yet')], [0, true]);
  let seq = 0;
  const entry = (event, fields) => JSON.stringify({ seq: ++seq, time: seq, event, prev: '', ...fields });
  const answer = (answered, level, score) => entry('answer', { reviewId: `c-${seq}`, answer: answered, level, score, by: 'person, editor' });
  const review = (id, lane, score) => entry('review', { reviewId: id, lane, score });
  writeFileSync(log(place), [
    answer('once', 'medium', 50), answer('deny', 'high', 80), answer('session', 'medium', 50), answer('deny', 'medium', 50),
    review('r-1', 'high', 85), review('r-2', 'low', 10), review('r-3', 'high', 90), review('r-4', 'low', 5),
    entry('approve', { reviewId: 'r-2', by: 'person', state: 'approved' }),
    entry('approve', { reviewId: 'r-4', by: 'lane', state: 'approved' }),
    entry('reject', { reviewId: 'r-1', state: 'rejected' }), entry('approve', { reviewId: 'r-3', by: 'person', state: 'approved' }),
    entry('reject', { reviewId: 'r-unknown', state: 'rejected' }), 'not an entry', ''].join('\n'), { mode: 0o600 });
  const told = place.json(['evaluate', '--audit', '--json']);
  assert.deepEqual(told.commands.by, { high: { approved: 0, denied: 1 }, medium: { approved: 2, denied: 1 } });
  // 80 over both approved, 50 level with both: 3 of 4 pairs.
  assert.equal(told.commands.agreement, 0.75);
  assert.deepEqual([told.changes.answers, told.changes.denied, told.changes.agreement], [3, 1, 0.5]);
  assert.deepEqual([told.commands.older.agreement, told.commands.newer.agreement], [1, 0.5]);
  assert.match(place.run(['evaluate', '--audit']).out, /^commands: 4 answers, 2 denied\n  high +0 approved, 1 denied\n/);
  assert.equal(place.run(['evaluate']).code, 2);
  assert.equal(place.run(['evaluate', '--audit', place.root]).code, 2);
}));

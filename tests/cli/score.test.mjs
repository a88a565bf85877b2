import assert from 'node:assert/strict';
import test from 'node:test';
import { inPlace, inventedToken } from './place.mjs';

const clean = `diff --git a/src/sum.js b/src/sum.js
--- a/src/sum.js
+++ b/src/sum.js
@@ -1,3 +1,4 @@
 export function sum(a, b) {
-  return a;
+  const total = a + b;
+  return total;
 }
`;

const leaking = (token) => `diff --git a/deploy/settings.py b/deploy/settings.py
--- a/deploy/settings.py
+++ b/deploy/settings.py
@@ -1,1 +1,3 @@
 import os
+API_TOKEN = "${token}"
+requests.get(url, verify=False)
`;

test('a clean change is in the low lane, and the shape is the documented one', () => inPlace((place) => {
  const verdict = place.json(['score', '--json'], { input: clean });
  assert.equal(verdict.code, 0);
  assert.equal(verdict.lane, 'low');
  assert.deepEqual(verdict.files, [{ path: 'src/sum.js', status: 'M', added: 2, removed: 1 }]);
  assert.deepEqual(Object.keys(verdict).slice(0, 7), ['score', 'lane', 'level', 'signals', 'files', 'explain', 'notes']);
}));

test('a key in a change is found at its line, never shown whole, and the points add up to the score', () => inPlace((place) => {
  const token = inventedToken();
  for (const flag of [['--json'], ['--format', 'json'], ['--format=json']]) {
    const done = place.run(['score', ...flag], { input: leaking(token) });
    const verdict = JSON.parse(done.out);
    assert.equal(verdict.lane, 'high');
    const secret = verdict.signals.find((signal) => signal.rule === 'secret-literal');
    assert.equal(secret.file, 'deploy/settings.py');
    assert.equal(secret.line, 2);
    assert.deepEqual(Object.keys(secret), ['rule', 'file', 'line', 'end_line', 'severity', 'weight', 'message', 'cwe']);
    assert.equal(verdict.explain.reduce((sum, part) => sum + part.points, 0), verdict.score);
    assert.ok(!done.out.includes(token));
  }
  const text = place.run(['score'], { input: leaking(token) });
  assert.match(text.out, /^deploy\/settings\.py:2: critical: .*\[secret-literal\]$/m);
  assert.match(text.out, /^high lane, \d+ of 100: waits for a person/m);
  assert.ok(!text.out.includes(token));
  assert.ok(!text.out.includes('\x1b'));
}));

test('any verdict exits 0, and --fail-on makes it the exit code', () => inPlace((place) => {
  const risky = leaking(inventedToken());
  assert.equal(place.run(['score'], { input: risky }).code, 0);
  assert.equal(place.run(['score', '--fail-on', 'high'], { input: risky }).code, 1);
  assert.equal(place.run(['score', '--fail-on', 'critical'], { input: risky }).code, 1);
  assert.equal(place.run(['score', '--fail-on', 'medium'], { input: clean }).code, 0);
}));

test('a malformed diff is a verdict too: high, with a note, and its place', () => inPlace((place) => {
  const verdict = place.json(['score', '--json'], { input: '--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n one line only\n' });
  assert.equal(verdict.code, 0);
  assert.equal(verdict.lane, 'high');
  assert.ok(verdict.score >= 71);
  assert.ok(verdict.notes.includes('parse-error'));
  assert.ok(verdict.issues[0].line >= 1);
}));

test('an empty diff scores nothing, and a path that is not UTF-8 still gives valid JSON', () => inPlace((place) => {
  assert.equal(place.json(['score', '--json'], { input: '' }).score, 0);
  const odd = Buffer.from('diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+\xff\xfe\n', 'latin1');
  assert.equal(place.json(['score', '--json'], { input: odd }).code, 0);
}));

test('a file is read by name, and a missing one is a fault that names it', () => inPlace((place) => {
  place.write('x.diff', clean);
  assert.equal(place.json(['score', 'x.diff', '--json']).lane, 'low');
  const missing = place.run(['score', 'none.diff']);
  assert.equal(missing.code, 3);
  assert.match(missing.err, /^escrow: none\.diff: No such file/);
  assert.equal(missing.out, '');
}));

test('confidence is taken by both names, and only from 0 to 1', () => inPlace((place) => {
  const risky = leaking(inventedToken());
  for (const flag of ['--confidence', '--agent-confidence']) {
    assert.equal(place.json(['score', '--json', flag, '0.1'], { input: risky }).code, 0);
    assert.equal(place.run(['score', flag, '7'], { input: risky }).code, 2);
  }
}));

test('the same bytes give the same answer', () => inPlace((place) => {
  const risky = leaking(inventedToken());
  const first = place.run(['score', '--json'], { input: risky }).out;
  for (let i = 0; i < 5; ++i) assert.equal(place.run(['score', '--json'], { input: risky }).out, first);
}));

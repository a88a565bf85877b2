// escrow score --format sarif, checked against the schema of SARIF 2.1.0 and against what code scanning services need.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { inPlace, inventedToken } from './place.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const require = createRequire(import.meta.url);

function makeValidator() {
  const Ajv = require('ajv').default;
  const schema = JSON.parse(readFileSync(join(root, 'node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'), 'utf8'));
  delete schema.$schema; // draft 04; nothing in it differs from 07 but the name of `id`
  delete schema.id;
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  ajv.addFormat('uri', (text) => URL.canParse(text));
  ajv.addFormat('uri-reference', (text) => /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/.test(text));
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)));
  return ajv.compile(schema);
}
const validate = makeValidator();

function sarifOf(place, input, args = []) {
  const done = place.run(['score', '--format', 'sarif', ...args], { input });
  assert.equal(done.code, 0, done.err);
  const log = JSON.parse(done.out);
  assert.ok(validate(log), JSON.stringify(validate.errors, null, 1));
  return { ...log, text: done.out, run: log.runs[0] };
}

const risky = (token, before = '') => `diff --git a/deploy/settings.py b/deploy/settings.py
--- a/deploy/settings.py
+++ b/deploy/settings.py
@@ -1,1 +1,${3 + before.split('\n').length - 1} @@
 import os
${before}+API_TOKEN = "${token}"
+requests.get(url, verify=False)
`;

test('the schema refuses what is wrong, so that a pass means something', () => {
  const good = { version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } }, results: [] }] };
  assert.ok(validate(good));
  for (const spoil of [
    (log) => { log.version = '2.0.0'; },
    (log) => { delete log.runs[0].tool; },
    (log) => { log.runs[0].results.push({ ruleId: 'x' }); },
    (log) => { log.runs[0].results.push({ message: { text: 'x' }, level: 'critical' }); },
    (log) => { log.runs[0].tool.driver.rules = [{ id: 'x', helpUri: 'not a uri' }]; },
    (log) => { log.runs[0].results.push({ message: { text: 'x' }, locations: [{ physicalLocation: { region: { startLine: 0 } } }] }); },
  ]) {
    const log = structuredClone(good);
    spoil(log);
    assert.ok(!validate(log), spoil.toString());
  }
});

test('findings stand at their lines, with level, rank, rule and fingerprint, and no secret', () => inPlace((place) => {
  const token = inventedToken();
  const { run, text } = sarifOf(place, risky(token));
  assert.ok(!text.includes(token));
  const verdict = place.json(['score', '--json'], { input: risky(token) });
  assert.equal(run.properties.score, verdict.score);
  assert.equal(run.results.length, verdict.signals.length);
  run.results.forEach((result, i) => {
    const signal = verdict.signals[i];
    assert.equal(result.ruleId, signal.rule);
    assert.equal(run.tool.driver.rules[result.ruleIndex].id, signal.rule);
    assert.equal(result.level, { critical: 'error', high: 'error', medium: 'warning', low: 'note' }[signal.severity]);
    assert.equal(result.rank, signal.weight);
    const place = result.locations[0].physicalLocation;
    assert.deepEqual(place.artifactLocation, { uri: signal.file, uriBaseId: '%SRCROOT%' });
    assert.deepEqual(place.region, { startLine: signal.line, endLine: signal.end_line });
    assert.match(result.partialFingerprints['escrowFinding/v1'], /^[0-9a-f-]{36}$/);
  });
}));

test('every rule that was met is described: text, help, weakness, severity', () => inPlace((place) => {
  const { rules } = sarifOf(place, risky(inventedToken())).run.tool.driver;
  const secret = rules.find((rule) => rule.id === 'secret-literal');
  assert.deepEqual(secret.properties.tags, ['security', 'external/cwe/cwe-798', 'external/cwe/cwe-321']);
  assert.equal(secret.properties['security-severity'], '9.5');
  assert.equal(secret.helpUri, 'https://cwe.mitre.org/data/definitions/798.html');
  assert.deepEqual(secret.defaultConfiguration, { level: 'error', rank: 85 });
  for (const rule of rules) {
    assert.ok(rule.shortDescription.text && rule.fullDescription.text && rule.help.text, rule.id);
    assert.equal(rule.help.markdown, place.run(['rules', rule.id]).out);
  }
}));

test('a finding keeps its fingerprint when its line moves, and two alike are told apart', () => inPlace((place) => {
  const token = inventedToken();
  const prints = (input) => sarifOf(place, input).run.results
    .filter((result) => result.ruleId === 'tls-verify-off').map((result) => result.partialFingerprints['escrowFinding/v1']);
  const here = prints(risky(token));
  assert.deepEqual(prints(risky(token, '+import sys\n+\n')), here);
  const twice = prints(risky(token, '+requests.get(url, verify=False)\n+x = 1\n+y = 2\n'));
  assert.equal(new Set(twice).size, twice.length);
  assert.ok(twice.includes(here[0]));
}));

test('paths are escaped, whole files stand on their first line', () => inPlace((place) => {
  const odd = 'diff --git "a/\\320\\264 #1.sh" "b/\\320\\264 #1.sh"\nold mode 100644\nnew mode 100755\n';
  const [result] = sarifOf(place, odd).run.results;
  const where = result.locations[0].physicalLocation;
  assert.equal(where.artifactLocation.uri, '%D0%B4%20%231.sh');
  assert.deepEqual(where.region, { startLine: 1 });
  assert.equal(result.properties.wholeFile, true);
  assert.equal(result.level, 'note');
}));

test('an empty change, an unreadable one and bytes that are no text are valid logs too', () => inPlace((place) => {
  assert.deepEqual(sarifOf(place, '').run.results, []);
  const torn = '--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n one line only\n';
  place.write('torn.diff', torn);
  const { run } = sarifOf(place, '', ['torn.diff']);
  assert.equal(run.results[0].ruleId, 'parse-error');
  assert.equal(run.results[0].level, 'error');
  assert.equal(run.results[0].locations[0].physicalLocation.artifactLocation.uri, 'torn.diff');
  assert.equal(run.properties.lane, 'high');
  sarifOf(place, Buffer.from('diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+eval(\xff)\n', 'latin1'));
}));

test('a log says nothing of the machine it was made on, and is the same each time', () => inPlace((place) => {
  const input = risky(inventedToken());
  const { text } = sarifOf(place, input);
  assert.ok(!text.includes(place.root) && !text.includes('file:'));
  assert.equal(sarifOf(place, input).text, text);
  assert.equal(place.run(['score', '--format', 'sarif', '--fail-on', 'high'], { input }).code, 1);
}));

test('a rule of a policy file is described by its own words, and by nothing of the machine', () => inPlace((place) => {
  place.policy("diff_rules:\n  - { id: no-print, pattern: '\\bprint\\(', weight: 45, cwe: [CWE-532], message: print is not logging }\n"
    + "  - { id: no-tabs, pattern: '\\t', weight: 5, message: blanks }\n");
  const { run, text } = sarifOf(place, '--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,3 @@\n one\n+print(x)\n+a\tb\n');
  const [print, tabs] = ['own.no-print', 'own.no-tabs'].map((id) => run.tool.driver.rules.find((rule) => rule.id === id));
  assert.equal(print.name, 'no-print');
  assert.equal(print.shortDescription.text, 'print is not logging');
  assert.equal(print.helpUri, 'https://cwe.mitre.org/data/definitions/532.html');
  assert.deepEqual(print.defaultConfiguration, { level: 'warning', rank: 45 });
  assert.deepEqual(print.properties, { tags: ['policy', 'security', 'external/cwe/cwe-532'], weight: 45, layer: 'user', 'security-severity': '5.5' });
  assert.match(print.help.text, /the user's policy, `no-print` under diff_rules/);
  assert.ok(!('helpUri' in tabs) && !('security-severity' in tabs.properties), JSON.stringify(tabs));
  for (const result of run.results) assert.equal(run.tool.driver.rules[result.ruleIndex].id, result.ruleId);
  assert.ok(!text.includes(place.state) && !text.includes('policy.yaml'));
}));

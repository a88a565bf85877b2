import assert from 'node:assert/strict';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inPlace } from './place.mjs';

test('the built-in policy is shown whole, with what the host can enforce', () => inPlace((place) => {
  const shown = place.json(['policy', 'show', '--json']);
  assert.deepEqual(Object.keys(shown).slice(0, 7),
    ['policy', 'origins', 'backend', 'available', 'message', 'restrictions', 'notes']);
  assert.equal(shown.policy.mode, 'enforce');
  assert.equal(shown.grantsPath, join(place.state, 'grants.json'));
  assert.ok(shown.restrictions.every((one) => one.kind && one.text));
  assert.match(place.run(['policy', 'show']).out, /^mode +enforce$/m);
}));

test('a value from a file is shown with the line it came from', () => inPlace((place) => {
  const file = place.policy('version: 1\nautonomy: low\n');
  const { out } = place.run(['policy', 'show']);
  assert.ok(out.includes(`(${file}:2)`), out);
  assert.equal(place.json(['policy', 'show', '--json']).policy.autonomy, 'low');
}));

test('a rule of the person decides, and is named as the clause', () => inPlace((place) => {
  place.policy('rules:\n  - { id: no-terraform, effect: deny, command: [terraform, apply], match: [terraform apply -x] }\n');
  const verdict = place.json(['classify', '--json', '--', 'terraform apply']);
  assert.equal(verdict.decision, 'deny');
  assert.equal(verdict.clause, 'no-terraform');
  const explained = place.json(['policy', 'explain', '--json', '--', 'terraform apply']);
  assert.equal(explained.clause, 'no-terraform');
  assert.ok(explained.trace.length > 0);
}));

test('an attack: the policy of the workspace cannot loosen', () => inPlace((place) => {
  place.write('.escrow/policy.yaml', 'mode: disabled\nrules:\n  - { id: free, effect: allow, command: [curl] }\n');
  const shown = place.json(['policy', 'show', '--json']);
  assert.equal(shown.policy.mode, 'enforce');
  assert.ok(shown.notes.length > 0);
  assert.notEqual(place.json(['classify', '--json', '--', 'curl https://example.org']).decision, 'allow');
}));

test('a broken policy is a fault everywhere, with its place, until it is mended', () => inPlace((place) => {
  const file = place.policy('mode: enforce\nrulez: []\n');
  for (const args of [['classify', '--', 'ls'], ['policy', 'show'], ['score']]) {
    const done = place.run(args);
    assert.equal(done.code, 3, args.join(' '));
    assert.ok(done.err.startsWith(`escrow: ${file}:2:1: unknown key "rulez"`), done.err);
    assert.equal(done.out, '');
  }
  const checked = place.json(['policy', 'check', '--json']);
  assert.equal(checked.code, 1);
  assert.deepEqual([checked.files[0].problems[0].line, checked.files[0].problems[0].column], [2, 1]);
}));

test('policy check answers for files it is given, and for stdin', () => inPlace((place) => {
  assert.equal(place.run(['policy', 'check', '-'], { input: 'mode: observe\n' }).code, 0);
  const bad = place.run(['policy', 'check', '-'], { input: 'mode: sometimes\n' });
  assert.equal(bad.code, 1);
  assert.match(bad.out, /^<stdin>:1:7: mode: expected one of enforce, observe, disabled/);
  const noted = place.json(['policy', 'check', '--json', '--layer', 'workspace', '-'], { input: 'mode: disabled\n' });
  assert.ok(noted.files[0].notes.length > 0);
}));

const rules = (...lines) => ['diff_rules:', ...lines.map((line) => `  - { ${line} }`), ''].join('\n');
const change = (path, ...lines) =>
  `--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,${1 + lines.length} @@\n one\n${lines.map((line) => `+${line}\n`).join('')}`;

test('a rule of the person finds its lines in a change, with its own weight and words', () => inPlace((place) => {
  place.policy(rules("id: no-print, pattern: '\\bprint\\(', paths: [src/], weight: 45, cwe: [CWE-532], message: print is not logging"));
  const verdict = place.json(['score', '--json'], { input: change('src/a.txt', 'x = 1', 'print(x)') });
  assert.deepEqual(verdict.signals, [{ rule: 'own.no-print', file: 'src/a.txt', line: 3, end_line: 3, severity: 'medium',
    weight: 45, message: 'print is not logging', cwe: ['CWE-532'] }]);
  assert.deepEqual([verdict.score, verdict.lane, verdict.explain], [45, 'medium', [{ rule: 'own.no-print', points: 45 }]]);
  assert.equal(place.json(['score', '--json'], { input: change('lib/a.txt', 'print(x)') }).score, 0);
  assert.equal(place.run(['score', '--fail-on', 'medium'], { input: change('src/a.txt', 'print(x)') }).code, 1);
  assert.match(place.run(['score'], { input: change('src/a.txt', 'print(x)') }).out,
    /^src\/a\.txt:2: medium: print is not logging .*\[own\.no-print\]$/m);
}));

test('a workspace may add rules about changes, and they are shown with their place', () => inPlace((place) => {
  const user = place.policy(rules('id: mine, pattern: alpha, weight: 40, message: first'));
  const file = place.write('.escrow/policy.yaml', rules('id: theirs, pattern: beta, weight: 50, on: removed, message: second'));
  const shown = place.json(['policy', 'show', '--json']);
  assert.deepEqual(shown.policy.diff_rules.map(({ id, on, weight }) => [id, on, weight]),
    [['mine', 'added', 40], ['theirs', 'removed', 50]]);
  assert.deepEqual(shown.origins['diff_rules.theirs'], { layer: 'workspace', file, line: 2 });
  assert.deepEqual(shown.notes, []);
  const { out } = place.run(['policy', 'show']);
  assert.ok(out.includes(`added lines with /alpha/: first (40 points, medium)  (${user}:2)`), out);
  const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-beta\n+alpha\n';
  assert.deepEqual(place.json(['score', '--json'], { input: diff }).signals.map(({ rule }) => rule), ['own.mine', 'own.theirs']);
}));

test('an attack: a workspace cannot weaken a rule of the person by naming it again', () => inPlace((place) => {
  place.policy(rules('id: same, pattern: needle, weight: 80, message: strong'));
  const input = change('a.txt', 'needle');
  const before = place.json(['score', '--json'], { input });
  place.write('.escrow/policy.yaml', rules('id: same, pattern: needle, weight: 1, severity: low, message: weak'));
  const after = place.json(['score', '--json'], { input });
  assert.equal(before.lane, 'high');
  assert.ok(after.score >= before.score);
  assert.equal(after.signals[0].message, 'strong');
}));

test('policy check runs the examples of the rules, and a broken one is a fault until it is mended', () => inPlace((place) => {
  const good = rules("id: r, pattern: 'a+b', weight: 10, message: m, match: [aab], not_match: [b]");
  const checked = place.run(['policy', 'check', '-'], { input: good });
  assert.deepEqual([checked.code, checked.out], [0, '<stdin>: ok, user layer, 0 rules, 1 diff rule\n']);
  const failing = good.replace('[aab]', '[ba]');
  const refused = place.run(['policy', 'check', '-'], { input: failing });
  assert.equal(refused.code, 1);
  assert.match(refused.out, /^<stdin>:2:\d+: diff rule "r": its example is not matched by its pattern: ba$/m);
  const file = place.policy(failing);
  const scored = place.run(['score'], { input: change('a.txt', 'ab') });
  assert.equal(scored.code, 3);
  assert.ok(scored.err.startsWith(`escrow: ${file}:2:`), scored.err);
}));

test('the bands of the policy decide the lane of a score', () => inPlace((place) => {
  place.write('.escrow/policy.yaml', 'risk_bands:\n' +
    '  low: { max_score: 10, actions: [unit_tests, lint, semgrep], auto_merge: true }\n' +
    rules('id: r, pattern: needle, weight: 20, message: m'));
  const verdict = place.json(['score', '--json'], { input: change('a.txt', 'needle') });
  assert.deepEqual([verdict.score, verdict.lane], [20, 'medium']);
}));

test('an attack: an override that others could fill is refused', () => inPlace((place) => {
  symlinkSync(place.state, join(place.base, 'link'));
  chmodSync(place.home, 0o755);
  const inside = place.write('state/x', '').replace(/\/x$/, '');
  for (const [value, why] of [[join(place.base, 'link'), /symbolic link/], [inside, /lies in the workspace/],
    [place.home, /open to others/], ['state', /absolute/]]) {
    const done = place.run(['classify', '--', 'ls'], { env: { ESCROW_STATE_DIR: value } });
    assert.equal(done.code, 3);
    assert.match(done.err, why);
  }
}));

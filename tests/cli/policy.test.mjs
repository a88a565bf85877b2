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

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inPlace, inventedToken } from './place.mjs';

test('an allow is remembered, listed, counted by the judge, and revoked', () => inPlace((place) => {
  assert.notEqual(place.json(['policy', 'explain', '--json', '--', 'npm install left-pad']).decision, 'allow');
  const grant = place.json(['grants', 'allow', 'shell', '--match', 'npm install', '--reason', 'trusted here', '--yes', '--json']);
  assert.equal(grant.code, 0);
  assert.equal(grant.scope, 'workspace');
  assert.deepEqual(place.json(['grants', 'list', '--json']).grants.map((one) => one.id), [grant.id]);
  assert.equal(statSync(join(place.state, 'grants.json')).mode & 0o777, 0o600);
  const explained = place.json(['policy', 'explain', '--json', '--', 'npm install left-pad']);
  assert.equal(explained.decision, 'allow');
  assert.equal(explained.grantId, grant.id);
  assert.equal(place.run(['grants', 'revoke', grant.id]).code, 0);
  assert.notEqual(place.json(['policy', 'explain', '--json', '--', 'npm install left-pad']).decision, 'allow');
  assert.equal(place.run(['grants', 'revoke', grant.id]).code, 1);
}));

test('a deny needs no confirmation and beats an allow', () => inPlace((place) => {
  place.run(['grants', 'allow', 'shell', '--match', 'npm test', '--yes']);
  assert.equal(place.run(['grants', 'deny', 'shell', '--match', 'npm test']).code, 0);
  assert.equal(place.json(['policy', 'explain', '--json', '--', 'npm test']).decision, 'deny');
}));

test('an attack: --yes without a store of its own, and no terminal, allows nothing', () => inPlace((place) => {
  const env = { ESCROW_STATE_DIR: undefined, ESCROW_CONFIG_DIR: undefined };
  for (const flags of [[], ['--yes']]) {
    const done = place.run(['grants', 'allow', 'shell', '--match', 'npm install', ...flags], { env, input: 'y\ny\n' });
    // A terminal may be there when a person runs the tests; its answer is not in this input.
    if (flags.length === 0 && done.err.includes('not confirmed')) continue;
    assert.equal(done.code, 3);
    assert.equal(place.json(['grants', 'list', '--json'], { env }).grants.length, 0);
  }
}));

test('an attack: what would allow too much is refused with something narrower', () => inPlace((place) => {
  for (const match of ['', 'bash', 'python3', 'git', 'sudo', 'env', '*']) {
    const done = place.run(['grants', 'allow', 'shell', '--match', match, '--yes']);
    assert.equal(done.code, 2, `--match '${match}'`);
    assert.match(done.err, /^escrow: grants: .+/);
  }
  assert.equal(place.run(['grants', 'allow', 'rm -rf', '--yes']).code, 2);
  assert.equal(place.run(['grants', 'allow', 'shell', '--match', 'npm test', '--expires', 'soon', '--yes']).code, 2);
  assert.ok(!existsSync(join(place.state, 'grants.json')));
}));

test('clear forgets all, but not without --confirm', () => inPlace((place) => {
  place.run(['grants', 'deny', 'shell', '--match', 'npm publish']);
  assert.equal(place.run(['grants', 'clear']).code, 2);
  assert.equal(place.json(['grants', 'list', '--json']).grants.length, 1);
  assert.equal(place.json(['grants', 'clear', '--confirm', '--json']).revoked, 1);
  assert.equal(place.json(['grants', 'list', '--json']).grants.length, 0);
}));

test('each change of the grants is in the log, and the log verifies until a line is altered', () => inPlace((place) => {
  place.run(['grants', 'deny', 'shell', '--match', 'npm publish']);
  place.run(['grants', 'clear', '--confirm']);
  const log = place.json(['audit', 'show', '--json']);
  assert.deepEqual(log.entries.map((entry) => entry.event), ['grant', 'grant.revokeAll']);
  const verified = place.json(['audit', 'verify', '--json']);
  assert.deepEqual([verified.code, verified.ok, verified.entries], [0, true, 2]);
  assert.equal(place.json(['audit', 'verify', '--json', '--anchor', 'f'.repeat(64)]).code, 1);
  assert.equal(place.json(['audit', 'verify', '--json', '--anchor', verified.lastHash]).code, 0);
}));

test('a secret in a reason is not kept', () => inPlace((place) => {
  const secret = inventedToken();
  place.run(['grants', 'deny', 'shell', '--match', 'npm publish', '--reason', `because ${secret}`]);
  for (const file of ['grants.json', 'audit.jsonl']) {
    assert.ok(!readFileSync(join(place.state, file), 'utf8').includes(secret), file);
  }
}));

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { inPlace } from './place.mjs';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../docs/rules');
const pageOf = (name) => readFileSync(join(folder, `${name}.md`), 'utf8');
const idsOf = (place) => place.json(['rules', '--json']).rules.map((rule) => rule.id);

test('the pages are what the tables say; ./dev rules writes them anew', () => inPlace((place) => {
  const ids = idsOf(place);
  assert.ok(ids.length >= 58, `${ids.length} rules and categories`);
  assert.deepEqual(readdirSync(folder).sort(), [...ids, 'index'].map((id) => `${id}.md`).sort());
  for (const id of [...ids, 'index']) assert.equal(place.run(['rules', id]).out, pageOf(id), `${id}.md: run ./dev rules`);
}));

test('every page says what it means, shows two cases and how to accept it', () => inPlace((place) => {
  for (const id of idsOf(place)) {
    const page = pageOf(id);
    assert.match(page, new RegExp(`^# \`${id}\`: .+\n\n.+`), id);
    assert.equal((page.match(/^## /gm) ?? []).length, 3, id);
    assert.match(page, /^## To accept it\n\n./m, id);
    assert.equal((page.match(/^```/gm) ?? []).length % 2, 0, id);
    assert.ok(page.split('\n').every((line) => line.length <= 120 || line.startsWith('|')), id);
  }
}));

test('the index links to every page, and every link of a page leads somewhere', () => inPlace((place) => {
  const index = pageOf('index');
  for (const id of idsOf(place)) assert.ok(index.includes(`](${id}.md)`), id);
  for (const file of readdirSync(folder)) {
    for (const [, target] of readFileSync(join(folder, file), 'utf8').matchAll(/\]\(([^)]+)\)/g)) {
      if (!target.startsWith('https://cwe.mitre.org/data/definitions/')) assert.ok(readdirSync(folder).includes(target), `${file}: ${target}`);
    }
  }
}));

test('a change shown as found is found when it is scored, and the other is not', () => inPlace((place) => {
  let tried = 0;
  for (const rule of place.json(['rules', '--json']).rules) {
    const shown = [...pageOf(rule.id).matchAll(/```diff\n([^]*?)```/g)].map(([, diff]) => diff);
    // What a page cuts off or leaves out, and says so, is tried by the engine's own tests.
    if (shown.length !== 2 || /…|‹/.test(shown[0]) || /times|confidence is/.test(pageOf(rule.id))) continue;
    const found = (diff) => place.json(['score', '--json'], { input: diff }).signals.map((signal) => signal.rule);
    assert.ok(found(shown[0]).includes(rule.id), rule.id);
    assert.ok(!found(shown[1]).includes(rule.id), rule.id);
    ++tried;
  }
  assert.ok(tried >= 35, `${tried} tried`);
}));

test('a policy entry that a page offers does allow the command, and the grant is accepted', () => inPlace((place) => {
  let tried = 0;
  for (const rule of place.json(['rules', '--json']).rules) {
    const page = pageOf(rule.id);
    const entry = /```yaml\n([^]*?)```/.exec(page)?.[1];
    if (!entry) continue;
    const command = /```sh\n([^]*?)\n```/.exec(page)[1];
    assert.notEqual(place.json(['classify', '--json', '--', command]).decision, 'allow', rule.id);
    const file = place.policy(entry);
    assert.equal(place.run(['policy', 'check', file]).code, 0, entry);
    assert.equal(place.json(['classify', '--json', '--', command]).decision, 'allow', rule.id);
    place.policy('version: 1\n');
    const match = /--match '([^']*)'/.exec(page)[1];
    const granted = place.run(['grants', 'allow', 'shell', '--match', match, '--yes']);
    assert.equal(granted.code, 0, `${rule.id}: ${granted.err}`);
    ++tried;
  }
  assert.ok(tried >= 3, `${tried} tried`);
}));

test('a rule is found by its own name and by a clause, and an unknown one says where to look', () => inPlace((place) => {
  assert.equal(place.run(['rules', 'command.network']).out, place.run(['rules', 'network']).out);
  const one = place.json(['rules', 'tls-verify-off', '--json']);
  assert.deepEqual(one.cwe, ['CWE-295']);
  assert.equal(one.page, pageOf('tls-verify-off'));
  const unknown = place.run(['rules', 'no-such-rule']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /^escrow: rules: there is no rule or category 'no-such-rule' \(see escrow rules\)\n$/);
}));

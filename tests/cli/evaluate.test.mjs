import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { inPlace } from './place.mjs';

const ours = join(dirname(fileURLToPath(import.meta.url)), '../corpus/labelled');

const diffOf = (path, line) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,2 @@\n x\n+${line}\n`;
const change = (id, line, expect, stratum = 'core', path = 'src/a.py') =>
  ({ id, stratum, diff: diffOf(path, line), metadata: {}, expect: { signals: [], ...expect } });
const command = (id, text, level, decision_default, categories = []) =>
  ({ id, stratum: 's', command: text, expect: { level, categories, decision_default } });

function writeSet(place, { commands = [], diffs = [] }) {
  const lines = (rows) => rows.map((row) => JSON.stringify(row)).join('\n') + '\n';
  if (commands.length) place.write('set/commands.jsonl', lines(commands));
  if (diffs.length) place.write('set/diffs.jsonl', lines(diffs));
}

const evalLine = { rule: 'dynamic-eval', file: 'src/a.py', line: 2 };

test('rates of commands are counted as they are defined', () => inPlace((place) => {
  writeSet(place, { commands: [
    command('right', 'git status', 'none', 'allow', ['read-only']),
    command('asked for nothing', 'git push origin x', 'none', 'allow'),
    command('let through', 'ls', 'medium', 'prompt', ['network']),
    command('not denied', 'git fetch', 'critical', 'deny', ['network']),
    command('denied', 'rm -rf /', 'critical', 'deny', ['destructive']),
  ] });
  const { commands } = place.json(['evaluate', 'set', '--json']);
  const { n, decision_acc, over_prompt, under_block, critical_recall, cat_p, cat_r, deny_precision } = commands;
  assert.deepEqual({ n, decision_acc, critical_recall, deny_precision }, { n: 5, decision_acc: 2 / 5, critical_recall: 1 / 2, deny_precision: 1 });
  assert.equal(over_prompt, 1 / 2);
  assert.equal(under_block, 1 / 3);
  assert.equal(cat_r, 2 / 3); // network of `ls` is missed
  assert.ok(cat_p < 1); // network of `git push` was not expected
  assert.deepEqual(commands.mistakes.map((one) => [one.id, one.kind]),
    [['asked for nothing', 'over-prompt'], ['let through', 'under-block'], ['not denied', 'critical not denied']]);
}));

test('rates of diffs are counted as they are defined: lanes, strata, findings, lines', () => inPlace((place) => {
  writeSet(place, { diffs: [
    change('exact', 'x = eval(text)', { lane: 'medium', signals: [evalLine] }),
    change('near', 'x = eval(text)', { lane: 'medium', signals: [{ ...evalLine, line: 4 }] }),
    change('far', 'x = eval(text)', { lane: 'medium', signals: [{ ...evalLine, line: 9 }] }),
    change('unexpected', 'x = eval(text)', { lane: 'low' }),
    change('tolerated', 'x = eval(text)', { lane: 'low', lane_alt: ['medium'], also_ok: ['dynamic-eval'] }),
    change('missed', 'x = parse(text)', { lane: 'high', signals: [evalLine] }, 'hard'),
    change('quiet', 'x = 1', { lane: 'low', max_score: 0 }),
  ] });
  const { diffs } = place.json(['evaluate', 'set', '--json']);
  assert.deepEqual([diffs.n, diffs.failures, diffs.lane_strict, diffs.lane_ok], [7, 0, 4 / 7, 5 / 7]);
  assert.deepEqual([diffs.risky_recall, diffs.risky_core, diffs.risky_hard], [3 / 4, 1, 0]);
  assert.deepEqual([diffs.high_recall, diffs.benign_low], [0, 1 / 3]);
  // Found: exact, near. Not as expected: `far` is one missed and (the rule being expected there) none too many.
  assert.deepEqual([diffs.signal_r, diffs.signal_p, diffs.located], [2 / 4, 2 / 3, 1 / 2]);
}));

test('a drop against the baseline exits 1 and says which figure, a rise does not', () => inPlace((place) => {
  writeSet(place, { diffs: [change('a', 'x = eval(text)', { lane: 'medium', signals: [evalLine] })] });
  assert.equal(place.run(['evaluate', 'set', '--save-baseline', 'base.json']).code, 0);
  const base = JSON.parse(place.read('base.json'));
  assert.equal(base.diffs.risky_recall, 1);
  assert.ok(!('mistakes' in base.diffs));
  assert.match(place.run(['evaluate', 'set', '--baseline', 'base.json']).out, /^as in base\.json$/m);

  writeSet(place, { diffs: [change('a', 'x = parse(text)', { lane: 'medium', signals: [evalLine] })] });
  const worse = place.run(['evaluate', 'set', '--baseline', 'base.json']);
  assert.equal(worse.code, 1);
  assert.match(worse.out, /risky kept out of low .* 0\.0 %.*worse: was 100\.0 %/);
  assert.match(worse.out, /^worse than base\.json$/m);
  const told = place.json(['evaluate', 'set', '--baseline', 'base.json', '--json']);
  assert.equal(told.code, 1);
  assert.deepEqual(told.drift.find((one) => one.metric === 'diffs.risky_recall'),
    { metric: 'diffs.risky_recall', was: 1, now: 0, worse: true });

  assert.equal(place.run(['evaluate', 'set', '--save-baseline', 'low.json']).code, 0);
  writeSet(place, { diffs: [change('a', 'x = eval(text)', { lane: 'medium', signals: [evalLine] })] });
  const better = place.run(['evaluate', 'set', '--baseline', 'low.json']);
  assert.equal(better.code, 0);
  assert.match(better.out, /better: was +0\.0 %/);
}));

test('a rate for which the set has no case is none, and cannot drift', () => inPlace((place) => {
  writeSet(place, { diffs: [change('a', 'x = 1', { lane: 'low' })] });
  const { diffs, commands } = place.json(['evaluate', 'set', '--json']);
  assert.equal(diffs.risky_recall, null);
  assert.equal(diffs.benign_low, 1);
  assert.equal(commands, undefined);
  place.write('base.json', JSON.stringify({ diffs: { n: 9, risky_recall: 1, benign_low: 1 } }));
  const done = place.run(['evaluate', 'set', '--baseline', 'base.json']);
  assert.equal(done.code, 0);
  assert.match(done.out, /^note: the baseline was measured on 9 cases of diffs, this on 1$/m);
}));

test('bad input is one line with file, line and member, and exits 2', () => inPlace((place) => {
  const refused = (args, pattern) => {
    const done = place.run(['evaluate', ...args]);
    assert.equal(done.code, 2, done.out);
    assert.equal(done.out, '');
    assert.match(done.err, pattern);
    assert.equal(done.err.trim().split('\n').length, 1);
  };
  refused(['nowhere'], /nowhere: there is neither a commands\.jsonl nor a diffs\.jsonl/);
  place.write('set/diffs.jsonl', '\n{"id": "x"}\n');
  refused(['set'], /set\/diffs\.jsonl:2: "stratum" is missing/);
  place.write('set/diffs.jsonl', '{"id": "x"\n');
  refused(['set'], /set\/diffs\.jsonl:1: not a JSON object/);
  writeSet(place, { diffs: [change('x', 'y', { lane: 'lowest' })] });
  refused(['set'], /set\/diffs\.jsonl:1: "lane" cannot be 'lowest'/);
  writeSet(place, { diffs: [change('x', 'y', { lane: 'low' })] });
  place.write('base.json', '[1]');
  refused(['set', '--baseline', 'base.json'], /base\.json: no report of escrow evaluate/);
  refused(['set', '--baseline', 'none.json'], /none\.json: No such file/);
}));

test('our own set is judged no worse than before', () => inPlace((place) => {
  const rows = (name) => readFileSync(join(ours, name), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(rows('diffs.jsonl').length >= 60 && rows('commands.jsonl').length >= 50);
  const done = place.run(['evaluate', ours, '--baseline', join(ours, 'baseline.json')]);
  assert.equal(done.code, 0, done.out);
}));

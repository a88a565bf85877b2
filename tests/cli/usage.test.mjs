import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inPlace } from './place.mjs';

// What is wrong, where, and what to do: one line, in our own words, for every way to mistype a command.
const mistakes = [
  [[], 'escrow: escrow: needs a command; one of lsp, exec, '],
  [['polcy'], 'escrow: escrow: no command `polcy`; one of lsp, exec, '],
  [['grants'], 'escrow: grants: needs a command; one of list, allow, deny, revoke, clear (see escrow grants --help)'],
  [['grants', 'bogus'], 'escrow: grants: '],
  [['grants', 'list', 'extra'], 'escrow: grants list: takes no further word, found `extra` (see escrow grants list --help)'],
  [['grants', 'allow'], 'escrow: grants allow: needs TOOL (see escrow grants allow --help)'],
  [['grants', 'allow', 'shell', '--match'], 'escrow: grants allow: --match needs a value: PATTERN'],
  [['grants', 'allow', 'shell', 'extra', '--match', 'npm test'], 'escrow: grants allow: takes no further word, found `extra`'],
  [['grants', 'allow', 'shell', '--autonomy', 'max'], 'escrow: grants allow: --autonomy: `max` is not one of low, medium, high'],
  [['grants', 'allow', 'shell', '--scope', 'session'], 'escrow: grants allow: --scope: `session` is not one of workspace, user'],
  [['grants', 'deny', '--match', 'x'], 'escrow: grants deny: needs TOOL'],
  [['grants', 'deny', 'weird tool'], 'escrow: grants: grant: tool `weird tool` must be letters, digits'],
  [['grants', 'revoke'], 'escrow: grants revoke: needs ID'],
  [['grants', 'clear'], 'escrow: grants clear: forgets every allow and every deny; say so with --confirm'],
  [['grants', 'clear', '--confirm', 'extra'], 'escrow: grants clear: takes no further word, found `extra`'],
  [['policy'], 'escrow: policy: needs a command; one of show, check, explain, accept, schema'],
  [['policy', 'show', 'extra'], 'escrow: policy show: takes no further word, found `extra`'],
  [['policy', 'show', '--format', 'xml'], 'escrow: policy show: --format: `xml` is not one of text, json'],
  [['policy', 'check', '--layer', 'x'], 'escrow: policy check: --layer: `x` is not one of user, workspace, system'],
  [['policy', 'explain'], 'escrow: policy explain: name one action: '],
  [['policy', 'explain', '--host', 'a.example', '--tool', 'x'], 'escrow: policy explain: name one action: '],
  [['policy', 'explain', '--host', 'a.example:port'], 'escrow: policy explain: name one action: '],
  [['policy', 'accept', 'extra'], 'escrow: policy accept: takes no further word, found `extra`'],
  [['audit'], 'escrow: audit: needs a command; one of show, verify'],
  [['audit', 'show', '-n', 'abc'], 'escrow: audit show: --lines: `abc` is not a whole number from 1 to 1000000'],
  [['audit', 'show', '-n', '0'], 'escrow: audit show: --lines: `0` is not a whole number from 1 to 1000000'],
  [['audit', 'verify', '--anchor'], 'escrow: audit verify: --anchor needs a value: HASH'],
  [['review', 'undo'], 'escrow: review undo: needs '],
  [['review', 'undo', 'r-1', '--yes'], 'escrow: review undo: has no option `--yes` (see escrow review undo --help)'],
  [['policy', 'show', '--no\u001b[31m'], 'escrow: policy show: has no option `--no\\x1b[31m`'],
];

test('every mistake in a command line is answered in one line of our own words', () => inPlace((place) => {
  for (const [args, message] of mistakes) {
    const done = place.run(args);
    assert.equal(done.code, 2, `${args.join(' ')}: ${done.err}`);
    assert.equal(done.out, '', args.join(' '));
    assert.ok(done.err.startsWith(message), `${args.join(' ')}: ${done.err}`);
    assert.equal(done.err.split('\n').length, 2, done.err);
    assert.ok(!done.err.includes('\u001b'), args.join(' '));
  }
  assert.deepEqual(readdirSync(place.state), [], 'a mistyped command touched the store');
}));

test('help starts nothing and touches no store', () => inPlace((place) => {
  for (const args of [['--help'], ['grants', '--help'], ['grants', 'allow', '--help'], ['grants', 'clear', '--help'],
    ['policy', 'accept', '--help'], ['audit', 'show', '--help'], ['lsp', '--help'], ['--version']]) {
    const done = place.run(args, { env: { ESCROW_STATE_DIR: '/proc/none' } });
    assert.equal(done.code, 0, args.join(' '));
    assert.notEqual(done.out, '');
  }
  assert.deepEqual(readdirSync(place.state), []);
  assert.match(place.run(['grants', 'allow', '--help']).out, /medium\s+does\s+not\s+answer\s+for\s+high/);
}));

test('a state directory that is none is named as such', () => inPlace((place) => {
  for (const [value, why] of [['/dev/null', /is not a directory; name one that is yours alone/],
    [place.write('file', 'x'), /lies in the workspace/], ['state', /must be an absolute path/]]) {
    const done = place.run(['grants', 'list'], { env: { ESCROW_STATE_DIR: value } });
    assert.equal(done.code, 3);
    assert.match(done.err, why);
  }
}));

test('the negative paths of grants: an empty store, an unknown id, a store that cannot be written or read', () => inPlace((place) => {
  assert.equal(place.run(['grants', 'list']).out, 'nothing is remembered\n');
  const unknown = place.run(['grants', 'revoke', 'g-none']);
  assert.deepEqual([unknown.code, unknown.out], [1, 'revoked 0 grants\nno grant of that id: ["g-none"]; see escrow grants list\n']);
  assert.ok(!existsSync(join(place.state, 'grants.json')), 'a revocation of nothing wrote a store');
  writeFileSync(join(place.state, 'grants.json'), '{"version":1,"grants":[\n{"id":"x"},\n', { mode: 0o600 });
  const listed = place.run(['grants', 'list']);
  assert.match(listed.out, /note: .*grants\.json:3:1: not JSON .*nothing in this store is used: mend it, or move it away/);
  const added = place.run(['grants', 'deny', 'shell']);
  assert.equal(added.code, 3);
  assert.match(added.err, /grants\.json:3:1: not JSON/);
  const asked = place.json(['policy', 'explain', '--json', '--', 'make lint']);
  assert.deepEqual([asked.decision, asked.clause], ['prompt', 'grants.damaged']);
  mkdirSync(join(place.base, 'closed', 'grants.json'), { recursive: true });
  chmodSync(join(place.base, 'closed'), 0o700);
  const closed = place.run(['grants', 'deny', 'shell'], { env: { ESCROW_GRANTS_PATH: join(place.base, 'closed', 'grants.json') } });
  assert.equal(closed.code, 3);
  assert.match(closed.err, /is not a regular file/);
  const flag = place.run(['grants', 'deny', 'shell', '--match', '--force']);
  assert.notEqual(flag.code, 0);
}));

test('a misspelt tool is remembered for an agent\'s own tool, and said to be that', () => inPlace((place) => {
  assert.match(place.run(['grants', 'deny', 'shel']).out, /note: `shel` is none of shell, file, network and mcp/);
  assert.doesNotMatch(place.run(['grants', 'deny', 'file', '--match', 'x/**']).out, /note:/);
}));

test('grants that could never count are refused, with what would', () => inPlace((place) => {
  for (const [match, why] of [['rm -rf', /`rm -rf build`/], ['rm -rf /', /critical, which no grant loosens/],
    ['npm test && npm run build', /remember each by itself: `npm test` and `npm run build`/]]) {
    const done = place.run(['grants', 'allow', 'shell', '--match', match, '--yes']);
    assert.equal(done.code, 2, match);
    assert.match(done.err, why);
  }
  assert.equal(place.run(['grants', 'deny', 'shell', '--match', 'a && b']).code, 2);
}));

test('every part of a line must be covered, by one grant each', () => inPlace((place) => {
  const line = 'npm install && npm run build';
  const verdict = () => place.json(['policy', 'explain', '--json', '--autonomy', 'low', '--', line]).decision;
  assert.equal(verdict(), 'prompt');
  place.run(['grants', 'allow', 'shell', '--match', 'npm install', '--yes']);
  assert.equal(verdict(), 'prompt');
  place.run(['grants', 'allow', 'shell', '--match', 'npm run build', '--yes']);
  assert.equal(verdict(), 'allow');
}));

test('a policy file behind a link is refused by name, and nothing of what it points at is shown', () => inPlace((place) => {
  const secret = join(place.base, 'secret');
  writeFileSync(secret, 'user:hunter2\n');
  mkdirSync(join(place.root, '.escrow'));
  symlinkSync(secret, join(place.root, '.escrow', 'policy.yaml'));
  for (const args of [['policy', 'check'], ['policy', 'check', '.escrow/policy.yaml'], ['policy', 'show'],
    ['policy', 'check', '--layer', 'workspace', join(place.root, '.escrow', 'policy.yaml')]]) {
    const done = place.run(args);
    assert.equal(done.code, 3, args.join(' '));
    assert.match(done.err, /is reached through a symbolic link/);
    assert.doesNotMatch(done.out + done.err, /hunter2/);
  }
}));

test('what a file says reaches the terminal as text, on one line', () => inPlace((place) => {
  const file = join(place.base, 'bad.yaml');
  writeFileSync(file, 'mode: "\\e[31mred\\nnext"\n"\\e]0;title\\a": 1\n"a\\nb": [\n');
  const { code, out, err } = place.run(['policy', 'check', file]);
  assert.equal(code, 1, err);
  assert.ok(!/[\u001b\u0007]/.test(out + err), JSON.stringify(out));
  for (const line of out.trimEnd().split('\n')) assert.ok(line.startsWith(`${file}:`), line);
}));

test('a workspace policy that became weaker, or went, holds on until the person accepts it', () => inPlace((place) => {
  const strict = 'autonomy: low\nrules:\n  - { id: no-make, effect: deny, command: [make] }\n';
  const verdict = () => place.json(['classify', '--json', '--', 'make']);
  const file = place.write('.escrow/policy.yaml', strict);
  assert.equal(verdict().clause, 'no-make');
  for (const weaker of ['autonomy: low\n', '', '# nothing\n', 'mode: observe\n', 'rules:\n  - { id: no-make, effect: prompt, command: [make] }\n']) {
    writeFileSync(file, weaker);
    assert.equal(verdict().decision, 'deny', weaker);
    assert.match(place.run(['policy', 'show']).out, /says less than before.*escrow policy accept/, weaker);
  }
  assert.equal(place.json(['policy', 'show', '--json']).policy.autonomy, 'low');
  // Without a terminal and a store of its own, nobody accepts.
  writeFileSync(file, 'autonomy: low\n');
  assert.equal(place.run(['policy', 'accept', '--yes'], { env: { ESCROW_STATE_DIR: undefined, ESCROW_CONFIG_DIR: undefined } }).code, 3);
  assert.equal(verdict().decision, 'deny');
  assert.equal(place.run(['policy', 'accept', '--yes']).code, 0);
  assert.notEqual(verdict().decision, 'deny');
  // And from here on what stands is what counts, and stricter files need no acceptance.
  writeFileSync(file, strict);
  assert.equal(verdict().decision, 'deny');
  writeFileSync(file, 'autonomy: low\n');
  assert.equal(verdict().decision, 'deny');
}));

test('the ratchet of one workspace is none of another\'s', () => inPlace((place) => {
  place.write('.escrow/policy.yaml', 'rules:\n  - { id: no-make, effect: deny, command: [make] }\n');
  assert.equal(place.json(['classify', '--json', '--', 'make']).decision, 'deny');
  const other = place.directory('other');
  assert.notEqual(place.json(['classify', '--json', '--', 'make'], { cwd: other }).decision, 'deny');
}));

test('policy explain traces files, hosts, MCP tools and tools of the agent\'s own', () => inPlace((place) => {
  place.policy('rules:\n  - { id: no-deploy, effect: deny, tool: deploy }\n  - { id: docs, effect: allow, network: docs.example.org }\n');
  const explain = (...args) => place.json(['policy', 'explain', '--json', ...args]);
  assert.deepEqual([explain('--tool', 'deploy').decision, explain('--tool', 'deploy').clause], ['deny', 'no-deploy']);
  assert.equal(explain('--host', 'docs.example.org:443').clause, 'docs');
  assert.ok(explain('--file', '.git/hooks/pre-commit').decision !== 'allow');
  for (const trace of [explain('--tool', 'other').trace, explain('--mcp', 'db/query').trace]) {
    assert.ok(trace.some((line) => /^rule no-deploy \(deny, user\): does not match$/.test(line)), trace.join('\n'));
    assert.match(trace.at(-1), /^decided by /);
  }
}));

test('the schema that is printed is the one that ships', () => inPlace((place) => {
  const { out, code } = place.run(['policy', 'schema']);
  assert.equal(code, 0);
  const schema = JSON.parse(out);
  assert.equal(schema.additionalProperties, false);
  assert.ok(schema.properties.rules.items.properties.effect.enum.includes('prompt'));
}));

test('an agent\'s command that would loosen the guard is critical', () => inPlace((place) => {
  for (const line of ['escrow grants allow shell --match x', 'escrow policy accept --yes', 'escrow grants clear --confirm']) {
    const verdict = place.json(['classify', '--json', '--', line]);
    assert.deepEqual([verdict.level, verdict.decision], ['critical', 'deny'], line);
  }
}));

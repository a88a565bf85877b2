// The small repository the demo works in: it counts stars, and has one real bug and one real test suite.
import { createHash } from 'node:crypto';
import os from 'node:os';
import fs from 'node:fs';
import { makeRepo } from '../support/repository.mjs';

const kPackage = `{
  "name": "stars",
  "version": "1.0.0",
  "type": "module",
  "private": true,
  "scripts": { "test": "node --test" }
}
`;

const kReadme = `# stars

How many stars has a repository? \`fetchStars(name)\` asks, \`formatStars(count)\` says it in few characters.
`;

const kClient = `import https from 'node:https';
import { endpoint, timeoutMs, token } from './config.js';

const agent = new https.Agent({
  keepAlive: true,
  rejectUnauthorized: true,
});

/** Resolves to the number of stars of a repository. */
export function fetchStars(name) {
  const headers = { authorization: \`Bearer \${token}\` };
  return new Promise((resolve, reject) => {
    const request = https.get(\`\${endpoint}/\${name}\`, { agent, headers, timeout: timeoutMs }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += chunk));
      response.on('end', () => resolve(JSON.parse(body).stars));
    });
    request.on('error', reject);
  });
}
`;

const kConfig = `export const endpoint = 'https://stars.example.org/v1';
export const timeoutMs = 3000;
export const token = process.env.STARS_TOKEN;
`;

const kFormat = `/** 950 is "950", 1200 is "1.2k". */
export function formatStars(count) {
  if (count < 1000) return String(count);
  return \`\${(count / 1000).toFixed(1)}k\`;
}
`;

const kFormatTest = `import assert from 'node:assert/strict';
import test from 'node:test';
import { formatStars } from '../src/format.js';

test('a few stars are counted', () => assert.equal(formatStars(950), '950'));
test('thousands are rounded', () => assert.equal(formatStars(1234), '1.2k'));
`;

/** The agent's honest work: millions were "1000.0k". */
export const cleanChange = {
  'src/format.js': `/** 950 is "950", 1200 is "1.2k", 2500000 is "2.5M". */
export function formatStars(count) {
  if (count < 1000) return String(count);
  if (count < 1000000) return \`\${(count / 1000).toFixed(1)}k\`;
  return \`\${(count / 1000000).toFixed(1)}M\`;
}
`,
  'test/format.test.js': `${kFormatTest}test('so are millions', () => assert.equal(formatStars(2500000), '2.5M'));
`,
};

/** Shaped like a token of a real provider, made here and now; nothing ever accepted it. */
function inventedToken() {
  const letters = createHash('sha512').update('stars').digest('base64').replace(/[^A-Za-z0-9]/g, '');
  return ['gh', 'p_', letters.slice(0, 36)].join('');
}

export const token = inventedToken();

/** What no one should merge at a glance: a key in the source, and any certificate trusted. */
export const riskyPatch = `diff --git a/src/client.js b/src/client.js
--- a/src/client.js
+++ b/src/client.js
@@ -3,5 +3,5 @@
${' '}
 const agent = new https.Agent({
   keepAlive: true,
-  rejectUnauthorized: true,
+  rejectUnauthorized: false,
 });
diff --git a/src/config.js b/src/config.js
--- a/src/config.js
+++ b/src/config.js
@@ -1,3 +1,3 @@
 export const endpoint = 'https://stars.example.org/v1';
 export const timeoutMs = 3000;
-export const token = process.env.STARS_TOKEN;
+export const token = '${token}';
`;

/** Both files after `riskyPatch`. */
export const risky = {
  'src/client.js': kClient.replace('rejectUnauthorized: true', 'rejectUnauthorized: false'),
  'src/config.js': kConfig.replace('process.env.STARS_TOKEN', `'${token}'`),
};

/** What another program does to src/config.js while the change waits: the lines below move down by one. */
export const lineUnderneath = '// Read by src/client.js.\n';

/** Makes and commits it. The caller calls `cleanup()`. */
export function makeProject() {
  const repo = makeRepo({
    'package.json': kPackage,
    'README.md': kReadme,
    'src/client.js': kClient,
    'src/config.js': kConfig,
    'src/format.js': kFormat,
    'test/format.test.js': kFormatTest,
  });
  // A Node of a version manager lives in the person's HOME, and the sandbox shows toolchains of HOME alone.
  if (fs.realpathSync(process.execPath).startsWith(`${os.homedir()}/`)) repo.env.HOME = os.homedir();
  return repo;
}

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, targetOf } from './layers/imports.ts';
import { layerProblems } from './layers/layer-rules.ts';
import { packageTable, publicName, pureGlobs } from './layers/package-table.ts';
import { readSources, repositoryRoot, type SourceFile } from './source-file.ts';

const isLayered = (file: string) =>
  /^(packages\/[^/]+\/)?(package\.json|README\.md)$|^docs\/architecture\.md$/.test(file) ||
  /^packages\/[^/]+\/src\/.*\.tsx?$/.test(file);

describe('this repository', () => {
  it('keeps its layers', () => {
    expect(layerProblems(readSources(isLayered))).toEqual([]);
  });

  it('compiles without the platform what the table calls pure', () => {
    const config = JSON.parse(readFileSync(path.join(repositoryRoot, 'tsconfig.pure.json'), 'utf8'));
    expect(config).toMatchObject({ compilerOptions: { types: [] }, include: pureGlobs });
  });
});

describe('the table of packages', () => {
  it('is listed bottom to top, the testkit aside', () => {
    const names = packageTable.map(row => row.name);
    expect(names.length).toBe(16);
    for (const [position, row] of packageTable.entries()) {
      expect(row.mayImport.filter(name => !names.slice(0, position).includes(name))).toEqual([]);
    }
  });
});

describe('layerProblems', () => {
  it('finds nothing in a workspace that keeps every rule', () => {
    const files = workspace(
      source('model/src/id.ts', `import { v7 } from 'uuid'; export const id = v7;`),
      source('model/src/id.test.ts', `import 'node:fs'; import 'vitest'; import '@signalbox/testkit';`),
      source('journal/src/files/log.ts', `import fs from 'node:fs'; import { id } from '@signalbox/model';`),
      source('adapters/src/claude/agent.ts', `await import('@anthropic-ai/claude-agent-sdk');`),
      source('app/src/demo/scene.ts', `import '@signalbox/testkit'; import '@signalbox/journal'; await import(name);`),
      source('signalbox/src/main.ts', `import type { App } from '@signalbox/app'; import '../package.json';`),
    );
    expect(layerProblems(files)).toEqual([]);
  });

  const cases: readonly (readonly [rule: string, file: SourceFile, problem: string])[] = [
    [
      'an import that the row does not allow',
      source('model/src/a.ts', `\nimport type { Log } from '@signalbox/journal';`),
      'packages/model/src/a.ts:2 imports @signalbox/journal; model may import no other package',
    ],
    [
      'an import of the published package',
      source('app/src/a.ts', `import { main } from 'signalbox';`),
      'packages/app/src/a.ts:1 imports signalbox; app may import model, journal, state, runs, workflow, guided, plan, fleet, store, adapters',
    ],
    [
      'a package that imports itself by name',
      source('journal/src/a.ts', `export * from '@signalbox/journal';`),
      'packages/journal/src/a.ts:1 imports @signalbox/journal; journal may import model',
    ],
    [
      'a deep import that the row does not allow',
      source('journal/src/a.ts', `import '@signalbox/app/src/wiring.ts';`),
      'packages/journal/src/a.ts:1 imports @signalbox/app; journal may import model',
    ],
    [
      'a relative import that leaves the package',
      source('journal/src/a.ts', `export { x } from '../../model/src/x.ts';`),
      'packages/journal/src/a.ts:1 imports ../../model/src/x.ts, which leaves its package',
    ],
    [
      'a relative import of a package whose name begins alike',
      source('state/src/a.ts', `import '../../state-machine/src/x.ts';`),
      'packages/state/src/a.ts:1 imports ../../state-machine/src/x.ts, which leaves its package',
    ],
    [
      'the platform in a pure package',
      source('model/src/deep/a.ts', `import { readFileSync } from 'node:fs';`),
      'packages/model/src/deep/a.ts:1 is pure and imports node:fs',
    ],
    [
      'the platform by its bare name in a pure folder',
      source('workflow/src/compile/a.ts', `import fs from 'fs/promises';`),
      'packages/workflow/src/compile/a.ts:1 is pure and imports fs/promises',
    ],
    [
      'the platform in the interpreter',
      source('workflow/src/interpret/step/a.ts', `const crypto = await import('node:crypto');`),
      'packages/workflow/src/interpret/step/a.ts:1 is pure and imports node:crypto',
    ],
    [
      'the platform in a projection',
      source('runs/src/decisions/projections/a.ts', `import type { Server } from 'node:http';`),
      'packages/runs/src/decisions/projections/a.ts:1 is pure and imports node:http',
    ],
    [
      'a computed import in pure code',
      source('model/src/a.ts', `export const load = (name: string) => import(name);`),
      'packages/model/src/a.ts:1 is pure and imports a computed module',
    ],
    [
      'an external package that is not declared',
      source('state/src/a.ts', `import { z } from 'left-pad/sub.js';`),
      'packages/state/src/a.ts:1 imports left-pad, which packages/state/package.json does not declare',
    ],
    [
      'an external package that is declared for development only',
      source('state/src/a.ts', `import 'fast-check';`),
      'packages/state/src/a.ts:1 imports fast-check, which packages/state/package.json does not declare',
    ],
    [
      'an internal package that is not declared',
      source('state/src/a.ts', `import '@signalbox/model';`),
      'packages/state/src/a.ts:1 imports @signalbox/model, which packages/state/package.json does not declare',
    ],
    [
      'a vendor SDK outside the adapters',
      source('fleet/src/a.ts', `import { query } from '@anthropic-ai/claude-agent-sdk';`),
      'packages/fleet/src/a.ts:1 imports @anthropic-ai/claude-agent-sdk; vendor SDKs belong in packages/adapters/src/<vendor>',
    ],
    [
      'a vendor SDK in no vendor folder',
      source('adapters/src/a.ts', `import { generateText } from 'ai';`),
      'packages/adapters/src/a.ts:1 imports ai; vendor SDKs belong in packages/adapters/src/<vendor>',
    ],
    [
      'the testkit outside the demo',
      source('app/src/wiring.ts', `import { lossyDisk } from '@signalbox/testkit';`),
      'packages/app/src/wiring.ts:1 imports @signalbox/testkit; of all sources only packages/app/src/demo/ and packages/app/src/agent-doctor/ and packages/app/src/testing/ may',
    ],
    [
      'the platform in the journal outside its files',
      source('journal/src/verify.ts', `import path from 'node:path';`),
      'packages/journal/src/verify.ts:1 imports node:path; in journal only packages/journal/src/files/ does',
    ],
    [
      'an internal package in a manifest that the row does not allow',
      manifest('client', { dependencies: { '@signalbox/app': '0.1.0' } }),
      'packages/client/package.json lists @signalbox/app, which its row does not allow',
    ],
    [
      'the testkit as a dependency of what is not the demo',
      manifest('journal', { dependencies: { '@signalbox/testkit': '0.1.0' } }),
      'packages/journal/package.json lists @signalbox/testkit, which its row does not allow',
    ],
    [
      'a range of versions',
      manifest('client', { dependencies: { hono: '^4.0.0' } }),
      'packages/client/package.json wants hono ^4.0.0, which is not an exact version',
    ],
    [
      'a range of versions for development',
      manifest('client', { devDependencies: { hono: '~4.0.0' } }),
      'packages/client/package.json wants hono ~4.0.0, which is not an exact version',
    ],
    [
      'two versions of one dependency',
      manifest('client', { dependencies: { uuid: '13.0.0' } }),
      'packages/model/package.json wants uuid 14.0.3 where packages/client/package.json wants 13.0.0',
    ],
    [
      'a package with a name of its own',
      { path: 'packages/client/package.json', source: '{"name": "@signalbox/customer"}' },
      'packages/client/package.json is named @signalbox/customer, not @signalbox/client',
    ],
  ];
  it.each(cases)('catches %s', (_rule, file, problem) => {
    expect(layerProblems(workspace(file))).toEqual([problem]);
  });

  it('catches a folder that is not in the table', () => {
    expect(layerProblems(workspace(source('helpers/README.md', '')))).toEqual([
      'packages/helpers is not in the table of packages',
      'docs/architecture.md does not name packages/helpers',
    ]);
  });

  it('catches a package without README.md', () => {
    const files = workspace().filter(file => file.path !== 'packages/state/README.md');
    expect(layerProblems(files)).toEqual(['packages/state has no README.md']);
  });

  it('catches a package without package.json', () => {
    const files = workspace().filter(file => file.path !== 'packages/state/package.json');
    expect(layerProblems(files)).toEqual(['packages/state has no package.json']);
  });

  it('catches a page on the architecture that is absent, has no table, or names other packages', () => {
    const files = workspace().filter(file => file.path !== 'docs/architecture.md');
    const withReadme = (text: string) => layerProblems([...files, { path: 'docs/architecture.md', source: text }]);
    const rows = packageTable.map(row => `| \`${row.name}\` | … |`);
    expect(layerProblems(files)).toEqual(['there is no docs/architecture.md']);
    expect(withReadme('# Signalbox\n')).toEqual(['docs/architecture.md has no table of packages']);
    expect(withReadme(rows.slice(0, -1).join('\n'))).toEqual(['docs/architecture.md does not name packages/testkit']);
    expect(withReadme([...rows, '| `helpers` | … |'].join('\n'))).toEqual([
      'docs/architecture.md names helpers, which does not exist',
    ]);
    expect(withReadme(`${rows.join('\n')}\n\n| \`demo\` | a command |\n`)).toEqual([]);
  });
});

describe('importsOf', () => {
  it('sees every way to name a module, and nothing else', () => {
    const text = `// import 'comment';
import 'effect';
import def, { named } from "double";
import * as all from 'namespace';
import type { T } from 'type';
import { type U } from 'inline-type';
export * from 'export-all';
export { named as other } from 'export-named';
export type { V } from 'export-type';
const lazy = () => import('dynamic');
const plain = await import(\`template\`);
const computed = await import(plain.name);
type W = import('type-query').W;
const required = require('required');
const resolved = import.meta.resolve('resolved');
const text = "import 'string'"; const template = \`import 'quoted' \${await import('inside')}\`;
const regex = /import 'regex'/; const notResolver = path.resolve('argument');
import {
  multi,
  line,
} from 'multi-line' with { type: 'json' };
`;
    expect(importsOf({ path: 'a.ts', source: text })).toEqual([
      { specifier: 'effect', line: 2 },
      { specifier: 'double', line: 3 },
      { specifier: 'namespace', line: 4 },
      { specifier: 'type', line: 5 },
      { specifier: 'inline-type', line: 6 },
      { specifier: 'export-all', line: 7 },
      { specifier: 'export-named', line: 8 },
      { specifier: 'export-type', line: 9 },
      { specifier: 'dynamic', line: 10 },
      { specifier: 'template', line: 11 },
      { specifier: undefined, line: 12 },
      { specifier: 'type-query', line: 13 },
      { specifier: 'required', line: 14 },
      { specifier: 'resolved', line: 15 },
      { specifier: 'inside', line: 16 },
      { specifier: 'multi-line', line: 21 },
    ]);
  });

  it('reads JSX and declaration files', () => {
    expect(importsOf({ path: 'a.tsx', source: `const a = <p>Don't import 'x'</p>; import 'y';` })).toEqual([
      { specifier: 'y', line: 1 },
    ]);
    expect(importsOf({ path: 'a.d.ts', source: `declare const a: import('y').A;` })).toEqual([
      { specifier: 'y', line: 1 },
    ]);
  });

  it('refuses a file that it cannot read', () => {
    expect(() => importsOf({ path: 'a.ts', source: 'import {' })).toThrow('a.ts does not parse');
  });
});

it('targetOf tells the package of a specifier', () => {
  expect(
    ['./a.ts', '../b.ts', 'node:sqlite', 'fs', 'zod', 'uuid/v7', '@noble/hashes/sha2.js', '@signalbox/model'].map(
      targetOf,
    ),
  ).toEqual([
    { kind: 'relative' },
    { kind: 'relative' },
    { kind: 'platform' },
    { kind: 'platform' },
    { kind: 'package', name: 'zod' },
    { kind: 'package', name: 'uuid' },
    { kind: 'package', name: '@noble/hashes' },
    { kind: 'package', name: '@signalbox/model' },
  ]);
});

/** A workspace of all 15 packages that keeps every rule, with `changes` added or put in place of its files. */
function workspace(...changes: readonly SourceFile[]): readonly SourceFile[] {
  const internal = (...names: readonly string[]) => Object.fromEntries(names.map(name => [publicName(name), '0.1.0']));
  const manifests: Readonly<Record<string, object>> = {
    model: { dependencies: { uuid: '14.0.3' } },
    journal: { dependencies: internal('model'), devDependencies: internal('testkit') },
    state: { devDependencies: { 'fast-check': '4.10.2' } },
    adapters: { dependencies: { '@anthropic-ai/claude-agent-sdk': '0.3.325' } },
    app: { dependencies: internal('journal', 'testkit') },
    signalbox: { devDependencies: internal('app') },
  };
  const files = packageTable.flatMap(row => [
    source(`${row.name}/README.md`, `# ${row.name}\n`),
    manifest(row.name, manifests[row.name] ?? {}),
  ]);
  const readme = packageTable.map(row => `| \`${row.name}\` | … |`).join('\n');
  const all = [
    { path: 'docs/architecture.md', source: `# Signalbox\n\n| package | job |\n|---|---|\n${readme}\n` },
    ...files,
  ];
  return [...all.filter(file => !changes.some(change => change.path === file.path)), ...changes].sort((a, b) =>
    a.path < b.path ? -1 : 1,
  );
}

function source(file: string, text: string): SourceFile {
  return { path: `packages/${file}`, source: text };
}

function manifest(name: string, fields: object): SourceFile {
  return source(`${name}/package.json`, JSON.stringify({ name: publicName(name), ...fields }));
}

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundle, undeclaredPackages } from '../scripts/bundle.ts';

describe('bundle', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'bundle-'));
    write('node_modules/declared/package.json', '{"name": "declared", "type": "module", "exports": "./index.js"}');
    write('node_modules/declared/index.js', 'export const declared = "declared";');
    write(
      'node_modules/@scope/hidden/package.json',
      '{"name": "@scope/hidden", "type": "module", "exports": "./index.js"}',
    );
    write('node_modules/@scope/hidden/index.js', 'export const hidden = "hidden";');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('makes a program that runs, with lazy parts in files of their own, and empties the folder first', async () => {
    write('dist/stale.js', '');
    write('src/lazy.ts', `import path from 'node:path'; export const name: string = path.basename('a/lazy');`);
    write(
      'src/main.ts',
      `import { declared } from 'declared';
       export const main = async (): Promise<string> => declared + ' ' + (await import('./lazy.ts')).name;`,
    );
    expect(await bundleOf(['declared'])).toEqual([]);
    const built: { main(): Promise<string> } = await import(pathToFileURL(path.join(root, 'dist/main.js')).href);
    expect(await built.main()).toBe('declared lazy');
    const files = readdirSync(path.join(root, 'dist')).map(file => file.replace(/-[A-Z0-9]+\./, '.'));
    expect(files.sort()).toEqual(['lazy.js', 'lazy.js.map', 'main.js', 'main.js.map']);
    const main = readFileSync(path.join(root, 'dist/main.js'), 'utf8');
    expect(main).toContain(`from"declared"`);
    expect(main).toContain('//# sourceMappingURL=main.js.map');
  });

  it('names a package that the program uses and does not declare', async () => {
    write(
      'src/main.ts',
      `import { declared } from 'declared'; import { hidden } from '@scope/hidden'; console.log(declared, hidden);`,
    );
    expect(await bundleOf([])).toEqual(['@scope/hidden', 'declared']);
  });

  it('takes packages in that it is told to, and loads of a package of the workspace only what is used', async () => {
    write('packages/words/package.json', '{"name": "@signalbox/words", "exports": {".": "./src/index.ts"}}');
    write(
      'packages/words/src/index.ts',
      `export { used as word } from './used.ts';\nexport { beside } from './beside.ts';\n`,
    );
    write('packages/words/src/used.ts', `export const used = 'a word';`);
    write('packages/words/src/beside.ts', `export const beside = console.log('beside');`);
    write(
      'packages/program/src/main.ts',
      `import { declared } from 'declared';\nimport { word } from '@signalbox/words';\nexport const main = () => word + declared;`,
    );
    const main = path.join(root, 'packages/program/src/main.ts');
    const outDir = path.join(root, 'dist');
    const bundled = await bundle({
      entries: { main },
      outDir,
      dependencies: ['declared'],
      inlined: ['declared'],
      root,
    });
    expect(bundled.undeclared).toEqual([]);
    expect([...bundled.files].sort()).toEqual([
      'node_modules/declared/index.js',
      'packages/program/src/main.ts',
      'packages/words/src/used.ts',
    ]);
    const built = readFileSync(path.join(outDir, 'main.js'), 'utf8');
    expect([built.includes('a word'), built.includes('import'), built.includes('beside')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('builds an entry that stands apart into files of its own, whatever others share with it', async () => {
    write('src/shared.ts', `export const shared = 'shared';`);
    for (const name of ['one', 'two', 'three']) {
      write(`src/${name}.ts`, `import { shared } from './shared.ts'; export const main = () => '${name} ' + shared;`);
    }
    const entry = (name: string) => path.join(root, `src/${name}.ts`);
    const { files } = await bundle({
      entries: { one: entry('one'), two: entry('two') },
      apart: { three: entry('three') },
      outDir: path.join(root, 'dist'),
      dependencies: [],
      root,
    });
    expect([...files].sort()).toEqual(['src/one.ts', 'src/shared.ts', 'src/three.ts', 'src/two.ts']);
    const importsOf = (name: string) =>
      readFileSync(path.join(root, `dist/${name}.js`), 'utf8').match(/\bimport\b/g) ?? [];
    expect([importsOf('one').length, importsOf('two').length, importsOf('three').length]).toEqual([1, 1, 0]);
    const built: { main(): string } = await import(pathToFileURL(path.join(root, 'dist/three.js')).href);
    expect(built.main()).toBe('three shared');
  });

  it('reads of the modules of Node the members that are used, so that the others load nothing', async () => {
    write(
      'src/main.ts',
      `import { existsSync } from 'node:fs'; import path from 'path'; import { styleText as painted } from 'node:util';
       import * as crypto from 'node:crypto';
       console.log(JSON.stringify({
         works: [existsSync('/'), path.basename('a/b'), typeof painted, crypto.hash('sha256', '').length],
         loaded: process.moduleLoadList.filter(name => / internal.(fs.streams|util.parse_args)/.test(name)),
       }));`,
    );
    expect(await bundleOf([])).toEqual([]);
    const { stdout } = spawnSync(process.execPath, [path.join(root, 'dist/main.js')], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual({ works: [true, 'b', 'function', 64], loaded: [] });
  });

  it('loads modules of Node that take long when something of them is called', async () => {
    write(
      'src/main.ts',
      `import childProcess from 'node:child_process'; import { spawnSync } from 'node:child_process'; import { hash } from 'node:crypto';
       const loaded = () => process.moduleLoadList.filter(name => /^NativeModule (child_process|crypto)$/.test(name));
       const before = loaded();
       const works = [hash('sha256', '').length, spawnSync('true').status, childProcess.spawnSync('false').status];
       console.log(JSON.stringify({ before, works, after: loaded().length }));`,
    );
    expect(await bundleOf([])).toEqual([]);
    const { stdout } = spawnSync(process.execPath, [path.join(root, 'dist/main.js')], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual({ before: [], works: [64, 0, 1], after: 2 });
  });

  it('builds a script of an entry, with what is imported lazily in it, and asks whoever runs it for the rest', async () => {
    write('packages/program/src/lazy.ts', `export const lazy = 'lazy ' + import.meta.url;`);
    write(
      'packages/program/src/main.ts',
      `const url = 'some:module';
       export const main = async () => [
         (await import('./lazy.ts')).lazy, await import('declared'), await import(url), typeof this,
       ];`,
    );
    await bundle({
      entries: {},
      scripts: { main: path.join(root, 'packages/program/src/main.ts') },
      outDir: path.join(root, 'dist'),
      dependencies: ['declared'],
      root,
    });
    expect(readdirSync(path.join(root, 'dist')).sort()).toEqual(['main.script.js', 'main.script.js.map']);
    const script = new vm.Script(readFileSync(path.join(root, 'dist/main.script.js'), 'utf8'));
    const module: { exports: { main?(): Promise<unknown> } } = { exports: {} };
    const meta = { url: 'its:url', import: async (specifier: string) => `imported ${specifier}` };
    script.runInThisContext()(module.exports, undefined, module, meta);
    expect(await module.exports.main?.()).toEqual([
      'lazy its:url',
      'imported declared',
      'imported some:module',
      'undefined',
    ]);
  });

  it('[X60] names an ES module whose default export a script takes, and no package that it gets right', async () => {
    write('node_modules/whole/package.json', '{"name": "whole", "type": "module", "exports": "./index.js"}');
    write('node_modules/whole/index.js', 'export default () => "whole"; export const part = "part";');
    write('node_modules/common/package.json', '{"name": "common"}');
    write('node_modules/common/index.js', 'module.exports = () => "common";');
    write(
      'src/main.ts',
      `import common from 'common'; import { declared } from 'declared'; import path from 'node:path'; import whole from 'whole';
       console.log(common(), declared, path.sep, whole());`,
    );
    const misreadWith = async (inlined: readonly string[]) => {
      const { misread } = await bundle({
        entries: {},
        scripts: { main: path.join(root, 'src/main.ts') },
        outDir: path.join(root, 'dist'),
        dependencies: ['common', 'declared', 'whole'],
        inlined,
        root,
      });
      return misread;
    };
    expect([await misreadWith([]), await misreadWith(['whole'])]).toEqual([['whole'], []]);
  });

  async function bundleOf(dependencies: readonly string[]): Promise<readonly string[]> {
    const { undeclared } = await bundle({
      entries: { main: path.join(root, 'src/main.ts') },
      outDir: path.join(root, 'dist'),
      dependencies,
      root,
    });
    return undeclared;
  }

  function write(file: string, text: string): void {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
});

it('undeclaredPackages looks at what the output imports and at what it swallowed, not at the platform', () => {
  const external = (specifier: string) => ({ path: specifier, kind: 'import-statement' as const, external: true });
  const output = {
    bytes: 1,
    inputs: {},
    exports: [],
    imports: [
      external('node:fs'),
      external('fs'),
      external('zod/v4'),
      external('@a/b/c'),
      { path: 'dist/x.js', kind: 'import-statement' as const },
    ],
  };
  const input = { bytes: 1, imports: [] };
  const inputs = { 'packages/model/src/index.ts': input, 'node_modules/d/node_modules/e/index.js': input };
  expect(undeclaredPackages({ inputs, outputs: { 'dist/main.js': output } }, ['zod'])).toEqual(['@a/b', 'e']);
});

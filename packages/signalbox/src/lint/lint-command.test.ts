import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { main } from '../main.ts';

const HEAD = `import { definePlan, Each, Task } from 'signalbox';\n`;
const FINE = `${HEAD}export default definePlan({ name: 'fine', render: () => <Task id="a" run={() => 1} /> });`;
const NAMELESS = `${HEAD}export default definePlan({ name: 'nameless', render: () => <Task run={() => 1} /> });`;
const KEYLESS = `${HEAD}export default definePlan({ name: 'keyless', render: () => <Each items={[1]}>{n => <Task id={\`t\${n}\`} run={() => n} />}</Each> });`;

function plan(text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-lint-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'plan.tsx');
  writeFileSync(file, text);
  return file;
}

async function called(...args: readonly string[]) {
  const terminal = memoryTerminal();
  const code = await main(args, terminal);
  return { code, printed: terminal.printed.join('\n'), complained: terminal.complaints.join('\n') };
}

describe('signalbox lint', () => {
  it('[X4] fails for errors, and for warnings only where it is strict', async () => {
    const [fine, nameless, keyless] = [plan(FINE), plan(NAMELESS), plan(KEYLESS)];
    expect(await called('lint', fine)).toEqual({
      code: 0,
      printed: 'No problems found.',
      complained:
        'Types were not checked: there is no tsconfig.json above plan.tsx. "signalbox init" writes one into a new folder.',
    });
    expect(await called('lint', fine, '--no-types')).toMatchObject({ code: 0, complained: '' });
    expect(await called('lint', nameless)).toMatchObject({ code: 0 });
    expect(await called('lint', nameless, '--strict')).toMatchObject({ code: 1 });
    const all = await called('lint', fine, nameless, nameless, keyless);
    expect(all.code).toBe(1);
    expect(all.printed.split('\n')).toEqual([
      `${nameless}:2:61 warning <Task> has no id: it is identified by its place, and becomes another node when it moves in the plan. runnable-needs-id`,
      '  Give it a stable id, such as id="build".',
      `${keyless}:2:84 error A list item, <Task>, has no key: the plan cannot be rendered. list-needs-key`,
      '  Give it a unique, stable key: key={item.id}.',
      '1 error, 1 warning',
    ]);
  });

  it('[X231] checks types with the TypeScript of the project, and says why it could not', async () => {
    const file = plan(`${HEAD}import { half } from './half.ts';
export default definePlan({ name: 'typed', render: () => <Task id="a" run={() => half('x')} /> });`);
    const folder = path.dirname(file);
    const put = (name: string, text: string) => {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    };
    const noted = async () => {
      const { code, printed, complained } = await called('lint', file);
      expect({ code, printed }).toEqual({ code: 0, printed: 'No problems found.' });
      return complained;
    };
    put('half.ts', 'export const half = (n: number): number => n / 2;');
    put('other.ts', 'export const wrong: string = 1;');
    const own = {
      jsx: 'react-jsx',
      jsxImportSource: 'signalbox',
      strict: true,
      allowImportingTsExtensions: true,
      noEmit: true,
    };
    const options = { ...own, module: 'nodenext', types: [] };
    put('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['*.ts', '*.tsx'] }));
    expect(await noted()).toContain('npm install --save-dev typescript');
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(
      path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      path.join(folder, 'node_modules/typescript'),
    );
    expect(await noted()).toContain('npm install --save-dev signalbox zod');

    // What the plan needs of the package's declarations.
    put(
      'node_modules/signalbox/package.json',
      '{ "type": "module", "exports": { ".": "./index.d.ts", "./jsx-runtime": "./jsx-runtime.d.ts" } }',
    );
    put(
      'node_modules/signalbox/index.d.ts',
      `
      export function definePlan(plan: { name: string; render(): unknown }): unknown;
      export function Task(props: { id?: string; run(): unknown }): null;
      export function Each(props: object): null;`,
    );
    put(
      'node_modules/signalbox/jsx-runtime.d.ts',
      `
      export namespace JSX { type Element = null; interface IntrinsicElements {} }
      export function jsx(...given: unknown[]): null;`,
    );
    const wrong = await called('lint', file);
    expect(wrong).toEqual({
      code: 1,
      printed: [
        `${file}:3:87 error Argument of type 'string' is not assignable to parameter of type 'number'. TS2345`,
        '  Correct the types; --no-types lints without them.',
        '1 error',
      ].join('\n'),
      complained: '',
    });
    expect(JSON.parse((await called('lint', file, '--json')).printed)).toMatchObject([
      { file, rule: 'TS2345', line: 3, column: 87 },
    ]);
    put('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['other.ts'] }));
    expect(await noted()).toContain('does not include plan.tsx');
    put('tsconfig.json', '{ "compilerOptions": { "module": "none of them" } }');
    expect(await noted()).toMatch(/^Types were not checked: .*tsconfig\.json/);
  });

  it('prints JSON for programs, and refuses a file that is not there', async () => {
    const { printed } = await called('lint', plan(KEYLESS), '--json');
    expect(JSON.parse(printed)).toMatchObject([{ rule: 'list-needs-key', severity: 'error', line: 2, column: 84 }]);
    expect(await called('lint', '/nowhere/plan.tsx')).toMatchObject({ code: 2 });
  });

  it('comes before a run: warnings are told, errors refuse it, and --no-lint leaves it out', async () => {
    const keyless = plan(KEYLESS);
    const refused = await called('run', keyless, '--dry-run');
    expect(refused).toMatchObject({ code: 4, printed: '' });
    expect(refused.complained).toContain('and was not run');
    const unlinted = await called('run', keyless, '--dry-run', '--no-lint');
    expect(unlinted.code).toBe(1);
    expect(unlinted.complained).toContain('has no key');
    const warned = await called('run', plan(NAMELESS), '--dry-run');
    expect(warned.code).toBe(0);
    expect(warned.complained).toContain('runnable-needs-id');
  });
});

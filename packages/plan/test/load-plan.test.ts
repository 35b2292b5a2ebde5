import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';

const child = childScript(import.meta.dirname, 'load-child.ts');
let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'plan-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

/** Node resolves a module of a folder where nothing is installed; only the child's own imports see the workspace. */
function run(mode: 'load' | 'run', ...names: readonly string[]) {
  const { stdout, stderr } = spawnSync(process.execPath, [child, mode, ...names.map(name => path.join(folder, name))], {
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

const hello = `import { definePlan, Phase, Task } from 'signalbox';
import * as z from 'zod';
import { greeting } from './lib/greeting.ts';

export default definePlan({
  name: 'hello',
  state: z.object({ said: z.string().optional() }),
  render: ctx => (
    <Phase name="greet">
      <Task id="hello" run={() => greeting('Ada')} onFinished={text => ctx.state.set('said', text)} />
    </Phase>
  ),
});
`;
const greeting = `export const greeting = (name: string): string => \`Hello \${name}\`;\n`;

describe('loading a plan', () => {
  it('[P302] leaves no thread and no process of the compiler', () => {
    write({
      'first.mjs': `import threads from 'node:worker_threads';
globalThis.started = 0;
threads.Worker = class extends threads.Worker {
  constructor(...args) {
    super(...args);
    globalThis.started += 1;
  }
};`,
      'compiled.ts': 'export default 1 as number;',
      'last.mjs': `import { readdirSync, readFileSync } from 'node:fs';
const { pid, platform } = process;
const entries = platform === 'linux' ? readdirSync('/proc').filter(name => Number(name) > 0) : [];
const children = entries.flatMap(name => {
  try {
    const [, program, , parent] = /^\\d+ \\((.*)\\) (\\S) (\\d+)/.exec(readFileSync('/proc/' + name + '/stat', 'utf8'));
    return Number(parent) === pid ? [program] : [];
  } catch {
    return [];
  }
});
console.log(JSON.stringify({ threads: globalThis.started, children }));`,
    });
    const isNoPlan = { error: expect.objectContaining({ code: 'plan/not-a-plan' }) };
    const none = { threads: 0, children: [] };
    expect(run('load', 'first.mjs', 'compiled.ts', 'last.mjs')).toEqual([isNoPlan, isNoPlan, none, isNoPlan]);
  });

  it('[P53] from a folder where nothing is installed, without a build, and running it', () => {
    write({ 'hello.tsx': hello, 'lib/greeting.ts': greeting });
    const [result] = run('run', 'hello.tsx');
    expect(result.end).toEqual({ status: 'completed', output: { said: 'Hello Ada' } });
    expect(result.tree.children[0].children[0]).toMatchObject({
      id: 'hello',
      status: 'succeeded',
      source: { file: path.join(folder, 'hello.tsx'), line: 10, column: 7 },
    });
  });

  it('[P54] returns the import closure: local files by digest, packages by version', () => {
    write({
      'plans/hello.tsx': hello.replace('./lib/', '../shared/'),
      'shared/greeting.ts': `import { suffix } from 'tiny';\nimport './data.json' with { type: 'json' };\n${greeting}export const all = suffix;\n`,
      'shared/data.json': '{}',
      'node_modules/tiny/package.json': '{ "name": "tiny", "version": "1.2.3", "type": "module", "main": "index.js" }',
      'node_modules/tiny/index.js': `export { suffix } from './other.js';`,
      'node_modules/tiny/other.js': `export const suffix = '!';`,
    });
    const digest = (text: string) => `sha256:${hash('sha256', text, 'hex')}`;
    const [{ closure }] = run('load', 'plans/hello.tsx');
    expect(closure).toEqual({
      root: folder,
      entry: 'plans/hello.tsx',
      files: [
        { path: 'plans/hello.tsx', digest: digest(hello.replace('./lib/', '../shared/')) },
        { path: 'shared/data.json', digest: digest('{}') },
        { path: 'shared/greeting.ts', digest: expect.stringMatching(/^sha256:/) },
      ],
      packages: [
        { name: 'tiny', version: '1.2.3' },
        { name: 'zod', version: expect.stringMatching(/^4\./) },
      ],
    });
  });

  describe('[A522] its zod', () => {
    /** The exports that a plan with these imports saw, and the packages recorded with it. */
    function seenBy(imports: string, seen: string): unknown {
      write({
        'plan.tsx': `${imports}\nimport { definePlan } from 'signalbox';\nglobalThis.seen = () => ${seen};\nexport default definePlan({ name: 'a', render: () => null });`,
        'look.ts': `const { loadPlan } = await import(${JSON.stringify(fileURLToPath(new URL('../src/index.ts', import.meta.url)))});
          globalThis.zod = await import(${JSON.stringify(import.meta.resolve('zod'))});
          const loaded = await loadPlan(${JSON.stringify(path.join(folder, 'plan.tsx'))});
          console.log(JSON.stringify(loaded.ok ? [globalThis.seen(), loaded.value.closure.packages] : loaded.error));`,
      });
      const { stdout, stderr } = spawnSync(process.execPath, [path.join(folder, 'look.ts')], { encoding: 'utf8' });
      if (stdout === '') throw new Error(stderr);
      return JSON.parse(stdout);
    }

    it('is the engine’s, with all its exports, if it has none', () => {
      const same = `Object.keys(zod).every(name => all[name] === zod[name]) && Object.keys(all).length === Object.keys(zod).length`;
      const seen = seenBy(
        `import * as all from 'zod';\nimport z, { enum as words } from 'zod/v4';`,
        `[import.meta.resolve('zod'), ${same}, z === zod.z, words === zod.enum]`,
      );
      // Not from its files.
      expect(seen).toEqual([
        ['signalbox-runtime:zod', true, true, true],
        [{ name: 'zod', version: expect.stringMatching(/^4\./) }],
      ]);
    });

    it('is its own if it has one, which its packages share', () => {
      const manifest = (name: string, version: string) =>
        JSON.stringify({ name, version, type: 'module', exports: './index.js' });
      write({
        'node_modules/zod/package.json': manifest('zod', '0.0.1'),
        'node_modules/zod/index.js': 'export const own = 1;',
        'node_modules/library/package.json': manifest('library', '1.0.0'),
        'node_modules/library/index.js': `export * from 'zod';`,
      });
      expect(seenBy(`import * as z from 'zod';\nimport * as library from 'library';`, '[z.own, library.own]')).toEqual([
        [1, 1],
        [
          { name: 'library', version: '1.0.0' },
          { name: 'zod', version: '0.0.1' },
        ],
      ]);
    });
  });

  it('[P55] loads changed files again', () => {
    const plan = (name: string) =>
      `import { definePlan } from 'signalbox';\nimport { name } from './name.ts';\nexport default definePlan({ name, render: () => null });\n// ${name}\n`;
    write({ 'a.tsx': plan('a'), 'name.ts': `export const name = 'one';` });
    const script = path.join(folder, 'again.ts');
    writeFileSync(
      script,
      `import { writeFileSync } from 'node:fs';
       const { loadPlan } = await import(${JSON.stringify(fileURLToPath(new URL('../src/index.ts', import.meta.url)))});
       const names = [];
       for (const name of ['one', 'two']) {
         writeFileSync(${JSON.stringify(path.join(folder, 'name.ts'))}, \`export const name = '\${name}';\`);
         const loaded = await loadPlan(${JSON.stringify(path.join(folder, 'a.tsx'))});
         names.push(loaded.ok ? loaded.value.plan.name : loaded.error.message);
       }
       console.log(JSON.stringify(names));`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: '["one","two"]\n', stderr: '' });
  });

  it('[P81] loads stored files, whatever is in their place now, with the author’s lines', () => {
    write({
      'plans/hello.tsx': hello.replace('./lib/', '../shared/'),
      'shared/greeting.ts': `import words from './words.json' with { type: 'json' };\nimport { end } from './end.mjs';\nexport const greeting = (name: string): string => words.hello + ' ' + name + end;\n`,
      'shared/words.json': '{ "hello": "Kept" }',
      'shared/end.mjs': `export const end = '!';\n`,
      'broken.tsx': `import { definePlan } from 'signalbox';\n\nexport default definePlan({\n  name: 'x',\n  render: (): never => {\n    throw new RangeError('then');\n  },\n});\n`,
    });
    const script = path.join(folder, 'kept.ts');
    const entry = (name: string) => JSON.stringify(path.join(folder, name));
    writeFileSync(
      script,
      `import { rmSync, writeFileSync } from 'node:fs';
       const { loadPlan, loadKept, previewPlan } = await import(${JSON.stringify(fileURLToPath(new URL('../src/index.ts', import.meta.url)))});
       const keptOf = async file => {
         const { value } = await loadPlan(file);
         const { root, entry } = value.closure;
         return { closure: value.closure, kept: { root, entry, files: [...value.contents].map(([path, contents]) => ({ path, contents })) } };
       };
       const one = await keptOf(${entry('plans/hello.tsx')});
       const two = await keptOf(${entry('broken.tsx')});
       rmSync(${entry('plans')}, { recursive: true });
       rmSync(${entry('broken.tsx')});
       writeFileSync(${entry('shared/words.json')}, '{ "hello": "Changed" }');
       writeFileSync(${entry('shared/greeting.ts')}, 'export const greeting = () => "Changed";');
       const clock = { now: () => 0 };
       const again = await loadKept(one.kept);
       const { tree } = previewPlan(again.value.plan, null, { clock }).value;
       const code = again.value.plan.render({ state: { set() {} } }).slots[0].props.run();
       const broken = previewPlan((await loadKept(two.kept)).value.plan, null, { clock });
       const missing = await loadKept({ ...one.kept, entry: 'nowhere.tsx' });
       console.log(JSON.stringify({
         same: JSON.stringify(again.value.closure) === JSON.stringify(one.closure),
         source: tree.children[0].children[0].source,
         code,
         broken: broken.error.message,
         missing: missing.error.message,
       }));`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      same: true,
      source: { file: path.join(folder, 'plans/hello.tsx'), line: 10, column: 7 },
      code: 'Kept Ada!',
      broken: expect.stringContaining(`RangeError: then at ${path.join(folder, 'broken.tsx')}:6:11`),
      missing: expect.stringContaining('nowhere.tsx is not among the kept files'),
    });
  });

  it('[P56] errors point at the author’s line', () => {
    write({
      'syntax.tsx': `import { definePlan } from 'signalbox';\n\nexport default definePlan({ name: 'x', render: () => <Phase> });\n`,
      'props.tsx': `import { definePlan, Phase } from 'signalbox';\n\nexport default definePlan({\n  name: 'x',\n  render: () => (\n    <Phase />\n  ),\n});\n`,
      'throws.tsx': `import { definePlan } from 'signalbox';\ninterface Unused {\n  a: string;\n}\n\nfunction fail(): never {\n  throw new RangeError('at load');\n}\nfail();\nexport default definePlan({ name: 'x', render: () => null });\n`,
      'renders.tsx': `import { definePlan } from 'signalbox';\ninterface Props {\n  n: number;\n}\n\nfunction Part({ n }: Props) {\n  if (n > 1) {\n    throw new RangeError('in a component');\n  }\n  return null;\n}\nexport default definePlan({ name: 'x', render: () => <Part n={2} /> });\n`,
      'root.tsx': `import { definePlan } from 'signalbox';\n\nexport default definePlan({\n  name: 'x',\n  render: (): never => {\n    throw new RangeError('in the plan');\n  },\n});\n`,
      'named.tsx': `import { definePlan } from 'signalbox';\n\nexport default definePlan({ name: 'x y', render: () => null });\n`,
      'async.tsx': `import { definePlan } from 'signalbox';\n\nexport default definePlan({ name: 'x', render: async () => null } as never);\n`,
      'missing.tsx': `import { nothing } from './nowhere.ts';\nexport default nothing;\n`,
      'other.tsx': `export default { name: 'not a plan' };\n`,
    });
    const errors = [
      ...run('load', 'syntax.tsx', 'throws.tsx', 'missing.tsx', 'other.tsx', 'absent.tsx', 'named.tsx').map(
        ({ error }) => [error.code, error.message],
      ),
    ];
    expect(errors).toEqual([
      ['plan/load-failed', expect.stringContaining(`at ${path.join(folder, 'syntax.tsx')}:3:`)],
      ['plan/load-failed', `RangeError: at load at ${path.join(folder, 'throws.tsx')}:7:9`],
      ['plan/load-failed', expect.stringMatching(/nowhere\.ts/)],
      ['plan/not-a-plan', expect.stringContaining('other.tsx does not export a plan as default')],
      ['plan/load-failed', expect.stringContaining('there is no file')],
      ['plan/not-a-plan', expect.stringContaining(`at ${path.join(folder, 'named.tsx')}:3:16`)],
    ]);
    const [{ end }, part, root, late] = run('run', 'props.tsx', 'renders.tsx', 'root.tsx', 'async.tsx');
    expect(late.end.error.message).toContain(
      `the plan is async; a render only reads and computes at ${path.join(folder, 'async.tsx')}:3:16`,
    );
    expect(part.end.error.message).toContain(
      `<Part> threw RangeError: in a component at ${path.join(folder, 'renders.tsx')}:8:11`,
    );
    expect(root.end.error.message).toContain(`RangeError: in the plan at ${path.join(folder, 'root.tsx')}:6:11`);
    expect(end).toMatchObject({
      status: 'failed',
      error: {
        code: 'plan/invalid-props',
        message: expect.stringContaining(`at ${path.join(folder, 'props.tsx')}:6:5`),
      },
    });
  });

  it('[P235] quotes nothing of a file that only has the name of code', () => {
    const secret = ['hunter2', 'AbC-dEf_0123456789'].join('');
    const texts = [
      secret,
      secret.replace('-', ''),
      `KEY=${secret}`,
      `{"key": ${secret} }`,
      `"${secret}`,
      `{"key": "${secret}"}`,
    ];
    const names = ['tsx', 'ts', 'mjs', 'js', 'cjs'].flatMap(kind =>
      texts.map((text, at) => [`${at}.${kind}`, text] as const),
    );
    write(Object.fromEntries(names));
    const told = run('load', ...names.map(([name]) => name));
    expect(told.map(({ error }) => error.code.startsWith('plan/'))).toEqual(names.map(() => true));
    expect(JSON.stringify(told)).not.toContain('hunter2');
  });
});

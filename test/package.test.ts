import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { AHEAD_FILE, openWorkflowLibrary } from '@signalbox/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localProgram } from '../scripts/local-program.ts';
import { declaredPackages, ownEnvironment, packPackage, unpackPackage } from './packed-package.ts';
import { sized } from './sized.ts';
import { repositoryRoot } from './source-file.ts';

interface Component {
  readonly name: string;
  readonly licenses: readonly object[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}

/** The published package as a person gets it: built, packed, and in a full run installed, in a folder that knows nothing of the workspace. */
describe('the published package', () => {
  const published = path.join(repositoryRoot, 'packages/signalbox');
  let folder = '';
  let packed: readonly string[] = [];

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'package-'));
    mkdirSync(path.join(folder, 'home'));
    writeFileSync(path.join(folder, 'package.json'), '{"private": true}');
    const pack = packPackage(folder);
    packed = pack.files;
    if (!sized(false, true, true)) return unpackPackage(pack, folder);
    const install = npm(
      ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${path.basename(pack.file)}`],
      folder,
    );
    expect(install, install.stderr).toMatchObject({ status: 0 });
    expect(existsSync(path.join(folder, 'node_modules/.bin/signalbox'))).toBe(true);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Packages that came with it. */
  function installed(): readonly string[] {
    const list = path.join(folder, 'node_modules/.package-lock.json');
    if (!existsSync(list)) return declaredPackages();
    return Object.keys(JSON.parse(readFileSync(list, 'utf8')).packages)
      .map(place => place.split('node_modules/').at(-1) ?? '')
      .filter(name => name !== 'signalbox');
  }

  it('holds the program and what explains it, no sources and no tests', () => {
    const unbuilt = packed.filter(
      file =>
        !/^dist\/([\w.-]+\.js(\.map)?|[\w./-]+\.d\.ts|(console|bundled)\/.+|bundled-compiled\.json|sbom\.cdx\.json)$/.test(
          file,
        ),
    );
    expect(unbuilt).toEqual([
      'LICENSE',
      'README.md',
      'bin/compiled-code.js',
      'bin/signalbox.js',
      'bin/start.js',
      'package.json',
    ]);
    expect(packed).toContain('dist/main.js');
    expect(packed.filter(file => /\.test\.|\btests?\//.test(file))).toEqual([]);
  });

  it('[A312] lists what it is made of: what is bundled, what is in the page, and what is installed with it', () => {
    const inPackage = (file: string) => readFileSync(path.join(folder, 'node_modules/signalbox/dist', file), 'utf8');
    const { components }: { components: readonly Component[] } = JSON.parse(inPackage('sbom.cdx.json'));
    const delivered = (value: string) =>
      components.filter(({ properties }) => properties.some(one => one.value === value)).map(({ name }) => name);

    // The maps of the program name every file that is in it.
    const sources = packed
      .filter(file => /^dist\/[\w.-]+\.js\.map$/.test(file))
      .flatMap(file => JSON.parse(inPackage(path.basename(file))).sources as readonly string[]);
    const bundled = sources.flatMap(file => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
    expect(delivered('bundled in the program').sort()).toEqual([...new Set(bundled)].sort());
    expect(bundled).toContain('zod');

    const page: readonly { readonly name: string }[] = JSON.parse(inPackage('console/licenses.json'));
    expect(delivered('bundled in the console')).toEqual(expect.arrayContaining(page.map(({ name }) => name)));
    expect(delivered('bundled in the console')).toEqual(expect.arrayContaining(['react', 'react-dom', 'tailwindcss']));

    expect(installed()).toContain('zod');
    expect(delivered('installed')).toEqual(expect.arrayContaining([...installed()]));
    expect(components.filter(({ licenses }) => licenses.length !== 1)).toEqual([]);
  });

  it('names its command, which is there', () => {
    const { bin } = JSON.parse(readFileSync(path.join(folder, 'node_modules/signalbox/package.json'), 'utf8'));
    expect(bin).toEqual({ signalbox: expect.any(String) });
    expect(existsSync(path.join(folder, 'node_modules/signalbox', bin.signalbox))).toBe(true);
  });

  it('says its version', () => {
    const { version } = JSON.parse(readFileSync(path.join(published, 'package.json'), 'utf8'));
    expect(signalbox(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('explains itself', () => {
    const help = signalbox(['--help']);
    expect(help, help.stderr).toMatchObject({ status: 0, stderr: '' });
    expect(help.stdout).toContain('signalbox');
    expect(help.stdout).toContain('doctor');
  });

  it('finds itself in order', () => {
    const doctor = signalbox(['doctor', '--json']);
    expect(doctor, doctor.stderr).toMatchObject({ status: 0 });
    expect(JSON.parse(doctor.stdout)).toMatchObject({ ok: true });
  });

  it('has its workflows compiled ahead, to what they compile to', async () => {
    const ahead = JSON.parse(readFileSync(path.join(folder, 'node_modules/signalbox/dist', AHEAD_FILE), 'utf8'));
    const { workflows } = await openWorkflowLibrary({ hasher: nodeHasher, places: [] }).discover();
    const compiled = workflows.map(workflow => workflow.compiled.ok && workflow.compiled.value);
    expect(ahead.map(([, made]: [string, unknown]) => made)).toEqual(expect.arrayContaining(compiled));
    const listed = signalbox(['workflow', 'list', '--json']);
    expect(
      listed.stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).workflowHash),
    ).toEqual(
      workflows.filter(({ isRoutine }) => !isRoutine).map(({ compiled: made }) => made.ok && made.value.workflowHash),
    );
  });

  it('plays the demo', () => {
    const demo = signalbox(['demo', '--scenes']);
    expect(demo, demo.stderr).toMatchObject({ status: 0 });
  });

  it('says on an older Node what to do, in one sentence, with the arguments as they were given', () => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.14.1' } });`;
    const old = signalbox(['run', 'my plan.tsx'], ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]);
    expect(old).toEqual({
      status: 4,
      stdout: '',
      stderr:
        'Signalbox needs Node 24.15 or newer and this is 24.14.1; ' +
        `run: npx -p node@24 -p signalbox signalbox run 'my plan.tsx'\n`,
    });
  });

  describe('for authors of plans', () => {
    it('writes a first plan that passes the type checker and runs', () => {
      expect(signalbox(['init'])).toMatchObject({ status: 0, stderr: '' });
      expect(typeErrors()).toEqual([]);
      const ran = signalbox(['run', 'plan.tsx', '--json']);
      expect(ran, ran.stderr).toMatchObject({ status: 0, stderr: '' });
      expect(JSON.parse(ran.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ end: { status: 'completed' } });
    });

    it('[A520][A521] keeps its own code compiled, and nothing of a plan', () => {
      const mark = 'not-for-the-cache';
      write(
        'marked.tsx',
        `import { definePlan, Task } from 'signalbox';
export default definePlan({ name: 'marked', render: () => <Task id="a" run={() => '${mark}'.split('-').length} /> });`,
      );
      const ran = signalbox(['run', 'marked.tsx', '--no-lint']);
      rmSync(path.join(folder, 'marked.tsx'));
      expect(ran, ran.stderr).toMatchObject({ status: 0, stderr: '' });
      const code = path.join(folder, 'home/.cache/signalbox/code');
      const kept = readdirSync(code, { withFileTypes: true }).filter(file => file.isFile());
      expect(new Set(kept.map(({ name }) => name.replace(/-v.*/, '')))).toEqual(
        new Set([...kept.map(({ name }) => name.replace(/-v.*/, '')), 'run', 'plan-worker']),
      );
      for (const { name } of kept) {
        const file = path.join(code, name);
        expect([name, statSync(file).mode & 0o777, readFileSync(file).includes(mark)]).toEqual([name, 0o600, false]);
      }
    });

    it('finds wrong plans wrong', () => {
      const right = `import { definePlan, Human, Phase, Switch, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'right',
  input: z.object({ count: z.number() }),
  state: z.object({ seen: z.array(z.string()).default([]) }),
  render: ctx => (
    <Phase name="a">
      <Task run={() => ctx.input.count} onFinished={count => ctx.state.set('seen', [count.toFixed()])} />
      <Human prompt="?" schema={z.object({ yes: z.boolean() })} onFinished={answer => ctx.vol.set('yes', answer.yes)} />
      <Switch value={ctx.input.count > 1 ? 'many' : 'one'} cases={{ many: <Task run={() => 1} /> }} />
    </Phase>
  ),
});
`;
      const wrong: Readonly<Record<string, readonly [string, string]>> = {
        'a missing prop': ['<Phase name="a">', '<Phase>'],
        'an unknown prop': ['<Phase name="a">', '<Phase name="a" onFinished={() => 1}>'],
        'an unknown key of the state': [`set('seen'`, `set('sene'`],
        'a value of another type': ['[count.toFixed()]', '[count]'],
        'an input that is not there': ['ctx.input.count}', 'ctx.input.number}'],
        'the output of another schema': ['answer.yes', 'answer.no'],
        'a case that cannot be': ['many: <Task', 'some: <Task'],
        'an element of HTML': ['<Task run={() => 1} />', '<div />'],
      };
      rmSync(path.join(folder, 'plan.tsx'), { force: true });
      write('right.tsx', right);
      for (const [name, [before, after]] of Object.entries(wrong)) {
        expect(right, name).toContain(before);
        write(`${name.replaceAll(' ', '-')}.tsx`, right.replace(before, after));
      }
      const files = typeErrors().map(line => line.split('(', 1)[0] ?? '');
      expect([...new Set(files)].sort()).toEqual(
        Object.keys(wrong)
          .map(name => `${name.replaceAll(' ', '-')}.tsx`)
          .sort(),
      );
    });

    it('gives plans at run time what it can be imported for', () => {
      // `verifyReplay` is for tests of plans: a plan itself has nothing to replay.
      write(
        'imports.mjs',
        `console.log(JSON.stringify(Object.keys(await import('signalbox')).filter(name => name !== 'verifyReplay').sort()));`,
      );
      const imported = run(process.execPath, ['imports.mjs'], folder);
      write('runtimes.mjs', `await import('signalbox/jsx-runtime'); await import('signalbox/jsx-dev-runtime');`);
      expect(run(process.execPath, ['runtimes.mjs'], folder)).toEqual({ status: 0, stdout: '', stderr: '' });
      write(
        'same.tsx',
        `import * as api from 'signalbox';
const told = ${imported.stdout.trim()};
export default api.definePlan({
  name: 'same',
  render: () => <api.Task id="a" retries={0} run={() => { if (String(told) !== String(Object.keys(api).sort())) throw new Error(String(Object.keys(api))); return 1; }} />,
});`,
      );
      const same = signalbox(['run', 'same.tsx']);
      expect(same, same.stdout).toMatchObject({ status: 0 });
    });

    function write(name: string, text: string): void {
      writeFileSync(path.join(folder, name), text);
    }

    function typeErrors(): readonly string[] {
      const checked = run(process.execPath, [localProgram('typescript', 'tsc'), '--noEmit', '-p', '.'], folder);
      return checked.stdout.split('\n').filter(line => line.includes('error TS'));
    }
  });

  interface Outcome {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }

  function signalbox(args: readonly string[], nodeOptions: readonly string[] = []): Outcome {
    const program = path.join(folder, 'node_modules/signalbox/bin/signalbox.js');
    return run(process.execPath, [...nodeOptions, program, ...args], folder);
  }

  function npm(args: readonly string[], cwd: string): Outcome {
    return run('npm', args, cwd);
  }

  /** With a home of its own. */
  function run(program: string, args: readonly string[], cwd: string): Outcome {
    const home =
      program === 'npm' ? {} : { HOME: path.join(folder, 'home'), SIGNALBOX_DATA_DIR: path.join(folder, 'data') };
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd,
      encoding: 'utf8',
      env: { ...ownEnvironment(), ...home },
      shell: program === 'npm' && process.platform === 'win32',
      timeout: 600_000,
      killSignal: 'SIGKILL',
    });
    return { status, stdout, stderr };
  }
});

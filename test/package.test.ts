import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot } from './source-file.ts';

/** The published package as a person gets it: built, packed, installed in a folder that knows nothing of the workspace. */
describe('the published package', () => {
  const published = path.join(repositoryRoot, 'packages/signalbox');
  let folder = '';
  let packed: readonly string[] = [];

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'package-'));
    mkdirSync(path.join(folder, 'home'));
    writeFileSync(path.join(folder, 'package.json'), '{"private": true}');
    const built = run(process.execPath, [path.join(repositoryRoot, 'scripts/build.ts')], repositoryRoot);
    expect(built, built.stderr).toMatchObject({ status: 0 });
    const pack = npm(['pack', '--json', '--pack-destination', folder], published);
    expect(pack, pack.stderr).toMatchObject({ status: 0 });
    const [{ filename, files }] = JSON.parse(pack.stdout);
    packed = files.map((file: { path: string }) => file.path).sort();
    const install = npm(['install', '--prefer-offline', '--no-audit', '--no-fund', `./${filename}`], folder);
    expect(install, install.stderr).toMatchObject({ status: 0 });
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('holds the program and what explains it, no sources and no tests', () => {
    const unbuilt = packed.filter(file => !/^dist\/[\w.-]+\.js(\.map)?$/.test(file));
    expect(unbuilt).toEqual(['LICENSE', 'README.md', 'bin/signalbox.js', 'bin/start.js', 'package.json']);
    expect(packed).toContain('dist/main.js');
  });

  it('installs the command', () => {
    expect(existsSync(path.join(folder, 'node_modules/.bin/signalbox'))).toBe(true);
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

  it('plays the demo', () => {
    const demo = signalbox(['demo']);
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

  /** With the Node that runs this test first on the PATH, a home of its own, and none of the settings of an npm above. */
  function run(program: string, args: readonly string[], cwd: string): Outcome {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_|VITEST|SIGNALBOX_|FORCE_COLOR)/i.test(name),
    );
    const home =
      program === 'npm' ? {} : { HOME: path.join(folder, 'home'), SIGNALBOX_DATA_DIR: path.join(folder, 'data') };
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd,
      encoding: 'utf8',
      env: {
        ...Object.fromEntries(inherited),
        ...home,
        PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
      },
      shell: program === 'npm' && process.platform === 'win32',
      timeout: 240_000,
      killSignal: 'SIGKILL',
    });
    return { status, stdout, stderr };
  }
});

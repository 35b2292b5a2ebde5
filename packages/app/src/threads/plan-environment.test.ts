import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { basicEnvironment } from './basic-environment.ts';
import { planEnvironment } from './plan-environment.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'plan-environment-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(path.join(folder, '.signalbox'));

const env = {
  PATH: '/bin',
  HOME: '/home/ada',
  LC_ALL: 'C',
  CI: 'true',
  DEPLOY_URL: 'https://example.org',
  ANTHROPIC_API_KEY: 'no plan sees it',
  GITHUB_TOKEN: 'only where it is declared',
  SIGNALBOX_DATA_DIR: '/data',
  NODE_OPTIONS: '--inspect',
};
const basics = { PATH: '/bin', HOME: '/home/ada', LC_ALL: 'C' };
const source = { kind: 'file', file: path.join(folder, 'plans', 'plan.tsx') } as const;
const declare = (text: string) => writeFileSync(path.join(folder, '.signalbox', 'plans.json'), text);

describe('the environment of a plan', () => {
  it('[A277] has the basics, and what its project declares', () => {
    expect(basicEnvironment(env)).toEqual(basics);
    expect(planEnvironment(source, env)).toEqual({ ok: true, value: basics });
    declare('{"env": ["CI", "GITHUB_TOKEN", "NOT_SET"]}');
    const declared = { ...basics, CI: 'true', GITHUB_TOKEN: 'only where it is declared' };
    expect(planEnvironment(source, env)).toEqual({ ok: true, value: declared });
    const kept = { kind: 'kept', root: folder, entry: 'plans/plan.tsx', files: [] } as const;
    expect(planEnvironment(kept, env)).toEqual({ ok: true, value: declared });
  });

  it('[A277] has no key of a provider and nothing of ours, declared or not', () => {
    declare('{"env": ["ANTHROPIC_API_KEY", "SIGNALBOX_DATA_DIR"]}');
    expect(planEnvironment(source, env)).toEqual({ ok: true, value: basics });
  });

  it('[A503] is not waited for if a pipe is in the place of its file', () => {
    const file = path.join(folder, '.signalbox', 'plans.json');
    rmSync(file, { force: true });
    execFileSync('mkfifo', [file]);
    expect(planEnvironment(source, env)).toEqual({ ok: false, error: `${file} cannot be read (EINVAL)` });
    rmSync(file);
  });

  it.each(['{', '[]', '{"env": "CI"}', '{"env": ["A B"]}', '{"variables": []}'])(
    '[A277] is not guessed from %s',
    text => {
      declare(text);
      expect(planEnvironment(source, env)).toMatchObject({ ok: false, error: expect.stringContaining('plans.json') });
    },
  );
});

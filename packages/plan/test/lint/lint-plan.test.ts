import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lintPlan } from '../../src/lint/lint-plan.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

function folder(files: Readonly<Record<string, string>>): string {
  const home = mkdtempSync(path.join(tmpdir(), 'signalbox-lint-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), text);
  }
  return home;
}

const TASK = `import { Task } from 'signalbox'; export const Part = () => <Task run={() => 1} />;`;

describe('linting a plan', () => {
  it('[P157] covers its local imports, each once, and no package', () => {
    const home = folder({
      'plan.tsx': `import { Part } from './parts/part.tsx'; import type { T } from './types.tsx';
import '#named'; export * from './parts/other.tsx'; import './gone.tsx'; import 'pack'; import data from './data.json';
const later = () => import('./later.tsx'); export default Part;`,
      'parts/part.tsx': `import '../plan.tsx'; ${TASK}`,
      'parts/other.tsx': TASK,
      'later.tsx': TASK,
      'types.tsx': TASK,
      'named.tsx': TASK,
      'data.json': '{}',
      'package.json': '{"name": "home", "imports": {"#named": "./named.tsx"}}',
      'node_modules/pack/index.tsx': TASK,
      'node_modules/pack/package.json': '{"name": "pack", "main": "./index.tsx"}',
    });
    const linted = lintPlan(path.join(home, 'plan.tsx'));
    const files = linted.ok
      ? linted.value.map(({ file, rule }) => `${path.relative(home, file)} ${rule}`)
      : linted.error;
    expect(files).toEqual([
      'parts/part.tsx runnable-needs-id',
      'named.tsx runnable-needs-id',
      'parts/other.tsx runnable-needs-id',
      'later.tsx runnable-needs-id',
    ]);
  });

  it('[P157] reports a missing file, and follows a link', () => {
    const home = folder({ 'plan.tsx': TASK });
    expect(lintPlan(path.join(home, 'none.tsx'))).toMatchObject({ ok: false, error: { code: 'plan/load-failed' } });
    expect(lintPlan(home)).toMatchObject({ ok: false });
    symlinkSync(path.join(home, 'plan.tsx'), path.join(home, 'link.tsx'));
    expect(lintPlan(path.join(home, 'link.tsx'))).toEqual(lintPlan(path.join(home, 'plan.tsx')));
  });

  it('[P158] finds nothing in the examples and in the plans of tests', () => {
    const examples = readdirSync(path.join(root, 'examples'))
      .map(name => path.join(root, 'examples', name, 'plan.tsx'))
      .map(file => [file, lintPlan(file)] as const)
      .filter(([, linted]) => linted.ok);
    const plans = [...examples, ['crash', lintPlan(path.join(root, 'packages/app/test/plans/crash.tsx'))] as const];
    expect(examples.length).toBeGreaterThanOrEqual(4);
    const told = plans.map(([file, linted]) => ({
      file,
      found: linted.ok ? linted.value.filter(({ severity }) => severity !== 'info') : linted.error,
    }));
    expect(told).toEqual(plans.map(([file]) => ({ file, found: [] })));
  });
});

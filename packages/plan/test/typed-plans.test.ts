import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const inRepository = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

it('[P6, P10] plans type-check under jsxImportSource: ctx.input, ctx.state, results and every component', () => {
  const compiler = spawnSync(
    inRepository('node_modules/.bin/tsc'),
    ['-p', 'packages/plan/test/fixtures/tsconfig.json'],
    {
      cwd: inRepository(''),
      encoding: 'utf8',
    },
  );
  expect({ status: compiler.status, output: compiler.stdout + compiler.stderr }).toEqual({ status: 0, output: '' });
});

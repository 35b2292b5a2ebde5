import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { skipGate } from './test/skip-gate.ts';

// Programs that tests start from their sources load them compiled: twice as fast.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

/** Tests of the repository itself that take no longer than a unit test, and run with them. */
const rules = [
  'test/child-processes.test.ts',
  'test/layers.test.ts',
  'test/spec-coverage.test.ts',
  'test/supply-chain.test.ts',
  'test/security.test.ts',
];

export default defineConfig({
  test: {
    // Tests of whole programs wait for them more than they compute.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ['default', skipGate(fileURLToPath(new URL('test/allowed-skips.json', import.meta.url)))],
    projects: [
      // Modules keep no state between tests, so files share them: loading them anew for each takes four times as long.
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.{ts,tsx}', ...rules],
          isolate: false,
          // Nothing here takes long; a machine that is busy with something else may.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['packages/*/test/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...rules],
          testTimeout: process.env.SIGNALBOX_SOAK === '1' ? 7_200_000 : 300_000,
          hookTimeout: 300_000,
          // A machine that is busy with something else is no fault of what is waited for.
          expect: { poll: { timeout: 120_000 } },
        },
      },
    ],
  },
});

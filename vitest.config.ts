import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { builtPrograms } from './test/built-programs.ts';
import { LongestFirst } from './test/longest-first.ts';
import { sized } from './test/sized.ts';
import { skipGate } from './test/skip-gate.ts';
import { temporaryFilesInMemory } from './test/temporary-directories.ts';

// Programs that tests start from their sources load them compiled: twice as fast.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

/** Tests of the repository itself that take no longer than a unit test, and run with them. */
const rules = [
  'test/architecture.test.ts',
  'test/child-processes.test.ts',
  'test/docs/pages.test.ts',
  'test/docs/reference.test.ts',
  'test/layers.test.ts',
  'test/named-surface.test.ts',
  'test/patches.test.ts',
  'test/spec-coverage.test.ts',
  'test/supply-chain.test.ts',
  'test/security.test.ts',
];

/** Tests whose subject is the disk itself: layers of its filesystem, durability, a disk that is full. Their files are on it. */
const disk = [
  'packages/state/test/{layer*,person-and-layer,full-disk,ordinary-user}.test.ts',
  'packages/app/test/{full-disk,held-changes}.test.ts',
  'packages/signalbox/test/full-disk.test.ts',
  'packages/{journal,store}/test/kill.test.ts',
];

const inMemory = { env: temporaryFilesInMemory(), globalSetup: ['./test/temporary-directories.ts'] };
const children = './test/bundled-children.ts';
/** Times end what hangs, and nothing else: a machine that is busy with something else is no fault of what is waited for. */
const system = {
  // Modules keep no state between tests, so files share them: loading them for each takes longer than most tests do.
  isolate: sized(false, true, true),
  testTimeout: process.env.SIGNALBOX_SOAK === '1' ? 7_200_000 : 3_600_000,
  hookTimeout: 3_600_000,
  expect: { poll: { timeout: 600_000 } },
};

export default defineConfig({
  test: {
    // Tests of whole programs wait for them more than they compute.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    reporters: ['default', skipGate(fileURLToPath(new URL('test/allowed-skips.json', import.meta.url)))],
    projects: [
      {
        test: {
          ...inMemory,
          name: 'unit',
          include: ['packages/*/src/**/*.test.{ts,tsx}', ...rules],
          isolate: false,
          // Nothing here takes long; a machine that is busy with something else may.
          testTimeout: 300_000,
        },
      },
      {
        plugins: [builtPrograms()],
        test: {
          ...system,
          ...inMemory,
          globalSetup: [...inMemory.globalSetup, children],
          name: 'system',
          include: ['packages/*/test/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...rules, ...disk],
        },
      },
      { plugins: [builtPrograms()], test: { ...system, globalSetup: children, name: 'disk', include: disk } },
    ],
  },
});

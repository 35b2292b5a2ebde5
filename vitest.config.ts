import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['packages/*/src/**/*.test.ts'] } },
      { test: { name: 'system', include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'], testTimeout: 300_000 } },
    ],
  },
});

import { expect, it } from 'vitest';
import { noSpawnFields, spawnFaults, spawnOf } from './spawn-fields.ts';

const filled = { ...noSpawnFields, name: ' fixer ', plugin: 'claude', description: 'Fix the test' };

it('[K190] the form of an agent is the brief that it says, and says which field is wrong', () => {
  expect(spawnOf(filled)).toEqual({
    name: 'fixer',
    plugin: 'claude',
    brief: { role: 'Agent', workstream: 'main', description: 'Fix the test' },
  });
  expect(spawnOf({ ...filled, directory: ' packages/api ' }).brief.workspaceRequirements).toEqual({
    mounts: [{ hostPath: 'packages/api', sandboxPath: '/workspace', readOnly: false }],
    capabilities: [],
  });
  expect(spawnFaults(filled)).toEqual({});
  expect(Object.keys(spawnFaults(noSpawnFields))).toEqual(['name', 'plugin', 'description']);
  for (const directory of ['/etc', '../x', 'a/../../b', 'C:\\x'])
    expect(spawnFaults({ ...filled, directory })).toEqual({ directory: expect.stringContaining('below the project') });
});

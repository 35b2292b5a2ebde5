import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { err, failure } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { openAgentTools } from './agent-tools.ts';

const missing = failure('tool/sandbox-missing', { message: 'bwrap is not installed', suggestion: 'Install it.' });

/** The command tool of a data directory on a machine without a sandbox. */
async function commandTool(config?: string) {
  const data = path.join(temporaryFolder(), 'data');
  mkdirSync(data, { recursive: true });
  if (config !== undefined) writeFileSync(path.join(data, 'config.json'), config);
  const tools = await openAgentTools(data, manualMachine(), undefined, async () => err(missing)).atHand();
  const tool = tools.find(({ name }) => name === 'run_command');
  if (tool === undefined) throw new Error('there is a command tool');
  return tool;
}

describe('commands of agents without a sandbox', () => {
  it.each([
    undefined,
    '{}',
    '{"commands": {}}',
    '{"commands": {"allowUnconfined": false}}',
    '{"commands": {"allowUnconfined": "true"}}',
    '{"commands": {"allowUnconfined": true, "more": 1}}',
    'allowUnconfined: true',
  ])('[A260] are refused with the configuration %s, and say how to allow them', async config => {
    const tool = await commandTool(config);
    expect(await tool.ready?.('/project')).toMatchObject({
      ok: false,
      error: { code: 'tool/sandbox-missing', suggestion: expect.stringContaining('"allowUnconfined": true') },
    });
    expect(tool.risk).toBe('medium');
  });

  it('[A260] run where the configuration allows it, as a risk that is always asked about', async () => {
    const tool = await commandTool('{"commands": {"allowUnconfined": true}}');
    expect([tool.ready, tool.risk]).toEqual([undefined, 'high']);
  });
});

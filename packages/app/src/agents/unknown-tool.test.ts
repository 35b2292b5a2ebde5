import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtinToolNames } from '@signalbox/plan';
import { expect, it, onTestFinished } from 'vitest';
import { thisMachine } from '../machine.ts';
import { openAgentTools } from './agent-tools.ts';
import { offeredTools } from './offered-tools.ts';
import { unknownTool } from './unknown-tool.ts';

it('[A1002] is refused with the name that was most likely meant, allowed or denied', () => {
  const message = 'The plan names a tool "grep_files" that does not exist. Did you mean "grep"?';
  const error = { class: 'terminal', code: 'tool-unknown', message };
  expect(unknownTool({ allow: ['read_file', 'grep_files'] })).toEqual(error);
  expect(unknownTool({ deny: ['grep_files'] })).toEqual(error);
  expect([unknownTool({}), unknownTool({ allow: ['grep'], deny: ['run_command'] })]).toEqual([undefined, undefined]);
});

it('[A1002] is any but those that agents are offered', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tools-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const offered = await offeredTools(openAgentTools(folder, thisMachine()));
  expect(offered.map(({ name }) => name).sort()).toEqual([...builtinToolNames].sort());
});

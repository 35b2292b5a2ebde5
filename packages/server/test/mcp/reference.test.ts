import { readFileSync } from 'node:fs';
import { agentToolsReference } from '@signalbox/server';
import { expect, it } from 'vitest';
import { agentTools } from '../../src/mcp/tool-definitions.ts';

const written = new URL('../../../../docs/reference/agent-tools.md', import.meta.url);

it('[V41] the written reference matches the definitions', () => {
  expect(readFileSync(written, 'utf8'), '`npm run generate` mends it').toBe(agentToolsReference());
});

it('[V41] the reference has every tool, with its text and every argument', () => {
  const text = agentToolsReference();
  expect(text.match(/^## `(\w+)`$/gm)).toEqual(agentTools.map(({ name }) => `## \`${name}\``));
  for (const { description } of agentTools)
    for (const line of description.split('\n')) expect(text).toContain(`> ${line}`);
  expect(text).toContain('| `output.needsFromUser[].summary` | string | yes |');
});

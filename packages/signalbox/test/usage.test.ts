import * as fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../src/main.ts';
import { memoryTerminal } from './memory-terminal.ts';
import { temporaryFolder } from './program.ts';

const PLAN = `
import { Agent, definePlan } from 'signalbox';
export default definePlan({
  name: 'spends',
  render: () => <Agent id="writer" model="scripted:model.json" cwd="work" permissions="skip" prompt="Do it." />,
});
`;

describe('usage', () => {
  it('[X176] prints spending by day and model, and of a run what is left and what each node spent', async () => {
    const folder = temporaryFolder();
    const data = path.join(folder, 'data');
    fs.mkdirSync(path.join(folder, 'work'));
    fs.writeFileSync(path.join(folder, 'plan.tsx'), PLAN);
    const model = { version: 1, rules: [{ text: 'Done.', usage: { input: 30, output: 12 } }] };
    fs.writeFileSync(path.join(folder, 'model.json'), JSON.stringify(model));
    const said = async (...args: readonly string[]) => {
      const terminal = memoryTerminal();
      expect([await main([...args, '--data-dir', data], terminal), terminal.complaints]).toEqual([0, []]);
      return terminal.printed.join('\n');
    };
    await said('run', path.join(folder, 'plan.tsx'), '--max-tokens', '900000');
    const day = new Date().toISOString().slice(0, 10);
    const spent = '1 call, 30 tokens in, 12 out, $0.0000';
    expect(await said('usage')).toBe(`${day}  scripted:model.json  ${spent}`);
    expect((await said('usage', '@last')).split('\n')).toEqual([
      `Spent: ${spent}`,
      'Tokens: 42 of 900000, 899958 left',
      'writer',
      `  scripted:model.json  ${spent}`,
    ]);
    expect(JSON.parse(await said('usage', '@last', '--json'))).toMatchObject({
      ...{ total: { inputTokens: 30, outputTokens: 12 }, limits: { maxTotalTokens: 900_000 } },
      ...{ nodes: [{ node: 'writer', models: [{ model: 'model.json', calls: 1 }] }], calls: [], callsInAll: 0 },
    });
  });
});

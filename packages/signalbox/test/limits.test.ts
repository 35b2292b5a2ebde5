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

describe('limits', () => {
  it('[X260] are set and printed with what was spent and which runs wait; a mistake says what to give', async () => {
    const folder = temporaryFolder();
    const data = path.join(folder, 'data');
    fs.mkdirSync(path.join(folder, 'work'));
    fs.writeFileSync(path.join(folder, 'plan.tsx'), PLAN);
    const model = { version: 1, rules: [{ text: 'Done.', usage: { input: 30, output: 12 } }] };
    fs.writeFileSync(path.join(folder, 'model.json'), JSON.stringify(model));
    const said = async (exit: number, ...args: readonly string[]) => {
      const terminal = memoryTerminal();
      expect([await main([...args, '--data-dir', data], terminal), args]).toEqual([exit, args]);
      return [...terminal.printed, ...terminal.complaints].join('\n');
    };
    expect(await said(0, 'limits')).toMatch(/^No limits/);
    await said(0, 'run', path.join(folder, 'plan.tsx'));
    expect(await said(0, 'limits')).toBe('No limits. Set one with: signalbox limits set day --max-cost 20');
    await said(0, 'limits', 'set', 'day', '--max-tokens', '42', '--max-cost', '2.5');
    await said(0, 'limits', 'set', 'project', folder, '--max-tokens', '900');
    await said(0, 'limits', 'set', 'run', '--max-tokens', '800');
    await said(3, 'run', path.join(folder, 'plan.tsx'), '--max-tokens', '5000');
    const day = new Date().toISOString().slice(0, 10);
    const runs = JSON.parse(await said(0, 'limits', '--json')).ceilings[0].waiting;
    expect(runs).toHaveLength(1);
    expect((await said(0, 'limits')).split('\n')).toEqual([
      'Each run without limits of its own: 800 tokens',
      `All runs on ${day}: 42 of 42 tokens, $0.0000 of $2.50`,
      `  ${runs[0]} waits`,
      `${folder}: 42 of 900 tokens`,
    ]);
    await said(0, 'limits', 'set', 'day', '--max-tokens', 'none', '--max-cost', 'none');
    expect(JSON.parse(fs.readFileSync(path.join(data, 'config.json'), 'utf8'))).toEqual({
      limits: { run: { tokens: 800 }, projects: { [folder]: { tokens: 900 } } },
    });
    expect(await said(2, 'limits', 'set', 'week', '--max-tokens', '5')).toContain(
      'one of run, day, project, project-day',
    );
    expect(await said(2, 'limits', 'set', 'day')).toContain('--max-tokens, --max-cost or both');
    expect(await said(2, 'limits', 'set', 'day', '--max-tokens', '1.5')).toContain('a whole number');
    expect(await said(2, 'limits', 'set', 'day', 'here', '--max-tokens', '5')).toContain('has no directory');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { main } from '../main.ts';

const PLAN = `
import { definePlan, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'harvest',
  input: z.object({ sheaves: z.number() }),
  state: z.object({ yield: z.number().default(0) }),
  render: ctx => <Task id="reap" run={() => ctx.input.sheaves} onFinished={n => ctx.state.set('yield', n)} />,
});`;

it('[X166] compare says what two runs have in common and where they part', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'compare-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = path.join(folder, 'data');
  const said = async (...args: readonly string[]) => {
    const terminal = memoryTerminal();
    const code = await main([...args, '--data-dir', data], terminal);
    return { code, printed: terminal.printed.join('\n') };
  };
  writeFileSync(path.join(folder, 'plan.tsx'), PLAN);
  const runs: string[] = [];
  for (const sheaves of [3, 4]) {
    expect(await said('run', path.join(folder, 'plan.tsx'), '--input', JSON.stringify({ sheaves }))).toMatchObject({
      code: 0,
    });
    runs.push(JSON.parse((await said('ls', '--json')).printed.split('\n')[0] ?? '').id);
  }
  const [a = '', b = ''] = runs;
  const { code, printed } = await said('compare', a, '@last');
  expect(code).toBe(0);
  expect(printed).toContain('Two runs of one plan.');
  expect(printed).toContain('sheaves: 3 → 4');
  expect(printed).toContain('yield: 3 → 4');
  expect(printed).toMatch(/At frame \d of A and frame \d of B/);
  const json = JSON.parse((await said('compare', a, b, '--json')).printed);
  expect(json).toMatchObject({
    a: { run: a },
    b: { run: b },
    input: [{ key: 'sheaves', a: 3, b: 4 }],
    plan: { same: true },
  });
  expect(await said('compare', a, 'ffffffff')).toMatchObject({ code: 1 });
});

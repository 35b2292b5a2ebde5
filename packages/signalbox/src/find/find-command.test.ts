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
  input: z.object({ field: z.string() }),
  state: z.object({}),
  render: () => <Task id="reap" run={async ({ artifact }) => void (await artifact.markdown('Yield', 'Forty sheaves of barley'))} />,
});`;

it('[X165] find searches a data directory without a server', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'find-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = path.join(folder, 'data');
  const said = async (...args: readonly string[]) => {
    const terminal = memoryTerminal();
    const code = await main([...args, '--data-dir', data], terminal);
    return { code, printed: terminal.printed.join('\n'), complaints: terminal.complaints.join('\n') };
  };
  expect(await said('find', 'barley')).toMatchObject({ code: 0, printed: 'No results.' });
  writeFileSync(path.join(folder, 'plan.tsx'), PLAN);
  expect(await said('run', path.join(folder, 'plan.tsx'), '--input', '{"field":"glebe"}')).toMatchObject({ code: 0 });
  const text = await said('find', 'forty', 'barley');
  expect(text.code).toBe(0);
  expect(text.printed).toContain('artifact  Yield  in harvest');
  expect(text.printed).toContain('Forty sheaves of barley');
  const { printed } = await said('find', 'glebe', '--kind', 'run', 'node', '--json');
  expect(JSON.parse(printed)).toMatchObject({
    found: [{ kind: 'run', title: 'harvest' }],
    counts: { run: 1 },
    behind: 0,
  });
  for (const wrong of [
    ['--kind', 'secret'],
    ['--limit', 'x'],
    ['--run', '1'],
  ]) {
    expect(await said('find', 'glebe', ...wrong)).toMatchObject({ code: 2 });
  }
});

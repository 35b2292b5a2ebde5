import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { thisMachine } from '@signalbox/app/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/main.ts';
import { openOwner } from '../../src/owner/open-owner.ts';
import { memoryTerminal } from '../memory-terminal.ts';

const PLAN = `import { definePlan, Phase, Task, While } from 'signalbox'; import * as z from 'zod';
export default definePlan({ name: 'ops', state: z.object({ n: z.number().default(0) }), render: ctx => <>
  <Phase name="count"><While id="l" condition={ctx.state.get('n') < 4} maxIterations={9}>
    <Task id="count" run={() => 1} onFinished={() => ctx.state.update('n', n => n + 1)} />
  </While></Phase>
  <Phase name="bad"><Task id="bad" retries={0} run={() => { throw new Error('no such thing'); }} /></Phase>
</> });`;

const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-operations-'));
const data = path.join(folder, 'data');
let run = '';

async function call(...args: readonly string[]) {
  const terminal = memoryTerminal();
  const code = await main([...args, '--data-dir', data], terminal);
  return { code, printed: terminal.printed.join('\n'), complained: terminal.complaints.join('\n') };
}
const json = async (...args: readonly string[]) => JSON.parse((await call(...args, '--json')).printed);
const lines = async (...args: readonly string[]) =>
  (await call(...args, '--json')).printed.split('\n').map(line => JSON.parse(line));

beforeAll(async () => {
  writeFileSync(path.join(folder, 'plan.tsx'), PLAN);
  expect((await call('run', path.join(folder, 'plan.tsx'))).code).toBe(1);
  [{ id: run }] = await lines('ls');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('commands of an operator', () => {
  it('why says what failed first, for people and for programs', async () => {
    const { printed } = await call('why', run);
    expect(printed).toContain("The task 'bad' failed first.");
    expect(printed).toContain(`signalbox retry ${run} bad`);
    const { answers } = await json('why', run, 'count');
    expect(answers.map(({ topic }: { readonly topic: string }) => topic)).toEqual([
      'status',
      'again',
      'again',
      'again',
    ]);
    expect(await call('why', 'ffffffff')).toMatchObject({ code: 1 });
  });

  it('logs are chosen by level and node, and have the fields of a log', async () => {
    const errors = await lines('logs', run, '--level', 'error');
    expect(errors.map(({ event }) => event)).toContain('task.ended');
    expect(errors.every(({ level }) => level === 'error')).toBe(true);
    const ofNode = await lines('logs', run, '--node', 'count', '--level', 'debug');
    expect(new Set(ofNode.map(({ node }) => node))).toEqual(new Set(['count']));
    expect(ofNode[0]).toMatchObject({
      timestamp: expect.any(String),
      component: expect.any(String),
      run,
      correlationId: run,
    });
    expect(await call('logs', run, '--level', 'loud')).toMatchObject({ code: 2 });
  });

  it('transitions and frames are chosen by place', async () => {
    expect((await lines('transitions', run, '--last', '2')).map(change => change.new)).toEqual([3, 4]);
    expect((await lines('frames', run, '--from', '1', '--to', '2')).map(({ index }) => index)).toEqual([1, 2]);
    expect(await call('frames', run, '--from', 'x')).toMatchObject({ code: 2 });
  });

  it('keep, unkeep and gc do the same whoever owns the data directory', async () => {
    expect(await call('keep', run)).toMatchObject({ code: 0, printed: `${run}  kept  ops` });
    writeFileSync(path.join(data, 'config.json'), '{"retention": {"collapseAfterDays": 0, "removeAfterDays": null}}');
    expect(await json('gc')).toMatchObject({ collapsed: [], bytes: 0 });

    const owner = await openOwner({ dataDirectory: data, machine: thisMachine(), env: {} });
    if (!owner.ok) throw new Error(owner.error.message);
    await owner.value.listen();
    expect(await call('unkeep', run)).toMatchObject({ code: 0, printed: `${run}  not kept  ops` });
    const would = await json('gc', '--dry-run');
    expect(would).toMatchObject({ dryRun: true, collapsed: [{ run, name: 'ops' }] });
    const did = await call('gc');
    expect(did.printed).toContain(`${would.collapsed[0].frames} frames went`);
    await owner.value.close();

    expect((await call('frames', run)).printed).toMatch(/frames \d+ to \d+ were collected/);
    expect((await call('show', run, '--json')).printed).toContain('"collected":[');
    expect(await call('show', run, '--frame', '1')).toMatchObject({
      code: 2,
      complained: expect.stringContaining('was collected'),
    });
    writeFileSync(path.join(data, 'config.json'), '{"retention": {"removeAfterDays": 0}}');
    expect((await json('gc', '--compact')).runs).toMatchObject([{ run }]);
    expect(await call('why', run)).toMatchObject({ code: 1, complained: expect.stringContaining('There is no run') });
    writeFileSync(path.join(data, 'config.json'), '{');
    expect(await call('gc')).toMatchObject({ code: 2, complained: expect.stringContaining('config.json') });
  });
});

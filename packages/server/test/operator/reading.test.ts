import { PassThrough } from 'node:stream';
import { allRunsOf } from '@signalbox/app/all-runs';
import { createOperatorMcp, serveOnStdio } from '@signalbox/server';
import { expect, it } from 'vitest';
import { resourceAt } from '../../src/operator/resources.ts';
import { scriptedHost } from '../scripted-host.ts';

it('[V87] the events of a frame are found however long the run is', async () => {
  const host = scriptedHost();
  const run = await host.begin('long');
  const frames = 400;
  for (let frame = 0; frame < frames; frame += 1) {
    await run.render({ id: 'a', kind: 'task' });
    if (frame % 3 === 0) continue;
    await run.status('a', 'running');
    await run.status('a', 'succeeded');
    if (frame === 250) for (let more = 0; more < 1_500; more += 1) await run.status('a', 'running');
  }
  const all = await host.store.events(run.id, 0, 100_000);
  const starts = all.flatMap(({ event }, at) => (event.type === 'frame.committed' ? [at] : []));
  for (const frame of [0, 1, 2, 100, 249, 250, 251, 350, frames - 1]) {
    const found = resourceAt(`signalbox://executions/${run.id}/frames/${frame}`);
    const read = await found?.resource.read({ ...host, runs: allRunsOf(host) }, found.place);
    if (read?.ok !== true) throw new Error('it cannot be read');
    const { events } = read.value as { readonly events: readonly unknown[] };
    expect(events).toEqual(all.slice(starts[frame], starts[frame + 1]));
  }
});

it('[V118] on standard streams news are dropped and counted for a client that does not read', async () => {
  const host = scriptedHost();
  const [input, output] = [new PassThrough(), new PassThrough()];
  let isFull = false;
  const faults: unknown[] = [];
  const served = serveOnStdio(
    createOperatorMcp({ host, isFull: () => isFull }),
    { onFault: thrown => faults.push(thrown) },
    {
      input,
      output,
    },
  );
  const lines = output[Symbol.asyncIterator]();
  let rest = '';
  const next = async (): Promise<{ readonly method?: string; readonly params?: Record<string, unknown> }> => {
    while (!rest.includes('\n')) rest += String((await lines.next()).value);
    const [line = '', ...later] = rest.split('\n');
    rest = later.join('\n');
    return JSON.parse(line);
  };
  const say = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  await next();
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'ping' });
  await next();
  const run = await host.begin('flood');
  await run.render({ id: 'a', kind: 'task' });
  expect(await next()).toMatchObject({ method: 'signalbox.frame.created', params: { frame_index: 0 } });
  isFull = true;
  for (let frame = 1; frame <= 3; frame += 1) await run.render({ id: 'a', kind: 'task' });
  isFull = false;
  await run.render({ id: 'a', kind: 'task' });
  expect(await next()).toMatchObject({ method: 'signalbox.events.missed', params: { count: 3 } });
  expect(await next()).toMatchObject({ method: 'signalbox.frame.created', params: { frame_index: 4 } });
  input.end();
  await served;
  expect(faults).toEqual([]);
});

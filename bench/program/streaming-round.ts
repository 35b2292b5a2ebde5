import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@signalbox/client';
import { hasRunEnded } from '@signalbox/runs';
import { given } from '../../test/given.ts';
import { streamRuns } from '../../test/load/streaming-runs.ts';

/**
 * One round, as a JSON line: milliseconds of a step of another run while the runs are silent, and while they stream.
 *
 *   node bench/program/streaming-round.ts PLAN RUNS SUBSCRIBERS STEPS
 *
 * Models and clients are in this process. Elsewhere they have processors of their own; here they leave them to the server, at a lower
 * priority, once it has started.
 */
const [file = '', runs, subscribers, steps] = process.argv.slice(2);
const LOW = 10;
const found: Record<string, number> = {};
await streamRuns({
  runs: Number(runs),
  subscribers: Number(subscribers),
  turns: 12,
  lookMs: 1_000,
  pace: () => sleep(20),
  async probe(client, when) {
    if (when === 'silent') {
      setPriority(LOW);
      // The first run compiles what the second one uses.
      await stepMs(client);
    }
    found[when] = await stepMs(client);
  },
});
process.stdout.write(`${JSON.stringify(found)}\n`);

/** By the timestamps of its frames: what the clients do does not count. */
async function stepMs(client: Client): Promise<number> {
  const { id } = given(await client.start({ file, anyFile: true, input: {} }));
  while (!hasRunEnded(given(await client.run(id)).record.status)) await sleep(100);
  const frames: number[] = [];
  for (let from = 0; ; ) {
    const { events } = given(await client.events(id, { from }));
    if (events.length === 0) break;
    from += events.length;
    for (const { event } of events) if (event.type === 'frame.committed') frames.push(Date.parse(event.ts));
  }
  return ((frames.at(-1) ?? 0) - (frames[0] ?? 0)) / Number(steps);
}

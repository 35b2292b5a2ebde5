import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@signalbox/client';
import { hasRunEnded } from '@signalbox/runs';
import { given } from '../../test/given.ts';
import { streamRuns } from '../../test/load/streaming-runs.ts';
import { goal, median, paired, round3 } from '../figures.ts';
import { type Place, planIn } from './place.ts';
import { writingPlan } from './plan-files.ts';

const [RUNS, SUBSCRIBERS, STEPS] = [50, 20, 300];

/** A run of 300 steps in a server with 50 other runs and 20 clients that listen to them: while these stream next to before. */
export async function benchStreaming(place: Place): Promise<void> {
  const { plan } = planIn(place, writingPlan(STEPS));
  const found: Record<'silent' | 'streaming', number[]> = { silent: [], streaming: [] };
  for (let round = 0; round < place.rounds; round++) {
    await streamRuns({
      runs: RUNS,
      subscribers: SUBSCRIBERS,
      turns: 12,
      lookMs: 1_000,
      pace: () => sleep(20),
      async probe(client, when) {
        found[when].push(await stepMs(client, plan));
      },
    });
  }
  const ratios = paired(found.streaming, found.silent, (streaming, silent) => streaming / silent);
  goal(`a step while ${RUNS} runs stream to ${SUBSCRIBERS} subscribers`, ratios, 'at most', 1.1, {
    ms: round3(median(found.streaming)),
    silentMs: round3(median(found.silent)),
  });
}

/** By the timestamps of its frames: what the clients do does not count. */
async function stepMs(client: Client, file: string): Promise<number> {
  const { id } = given(await client.start({ file, anyFile: true, input: {} }));
  while (!hasRunEnded(given(await client.run(id)).record.status)) await sleep(100);
  const frames: number[] = [];
  for (let from = 0; ; ) {
    const { events } = given(await client.events(id, { from }));
    if (events.length === 0) break;
    from += events.length;
    for (const { event } of events) if (event.type === 'frame.committed') frames.push(Date.parse(event.ts));
  }
  return ((frames.at(-1) ?? 0) - (frames[0] ?? 0)) / STEPS;
}

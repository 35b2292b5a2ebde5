import path from 'node:path';
import { goal, median, paired, round3 } from '../figures.ts';
import { lifeOf } from './node-process.ts';
import { type Place, planIn } from './place.ts';
import { writingPlan } from './plan-files.ts';

const [RUNS, SUBSCRIBERS, STEPS] = [50, 20, 300];

/** A run of 300 steps in a server with 50 other runs and 20 clients that listen to them: while these stream next to before. */
export async function benchStreaming(place: Place): Promise<void> {
  const { home, plan } = planIn(place, writingPlan(STEPS));
  const found: Record<'silent' | 'streaming', number[]> = { silent: [], streaming: [] };
  const script = path.join(import.meta.dirname, 'streaming-round.ts');
  for (let round = 0; round < place.rounds; round++) {
    await lifeOf([script, plan, ...[RUNS, SUBSCRIBERS, STEPS].map(String)], {
      env: { TMPDIR: home },
      line(line) {
        const { silent, streaming } = JSON.parse(line) as { readonly silent: number; readonly streaming: number };
        found.silent.push(silent);
        found.streaming.push(streaming);
      },
    });
  }
  const ratios = paired(found.streaming, found.silent, (streaming, silent) => streaming / silent);
  goal(`a step while ${RUNS} runs stream to ${SUBSCRIBERS} subscribers`, ratios, 'at most', 1.1, {
    ms: round3(median(found.streaming)),
    silentMs: round3(median(found.silent)),
  });
}

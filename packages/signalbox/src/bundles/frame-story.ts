import type { Frame, Reader, RunRecord, TransitionView } from '@signalbox/app/host';
import { unrecordedReads } from '@signalbox/plan';
import { shown, type Terminal } from '../terminal.ts';

const PAGE = 200;

/** The story of a run: each frame with its trigger, the nodes that were mounted and unmounted, and its writes. */
export async function printFrames(
  terminal: Terminal,
  reader: Pick<Reader, 'at' | 'frames' | 'transitions'>,
  { id, frames: count }: RunRecord,
  json: boolean,
): Promise<void> {
  const written = transitionsByFrame(reader, id);
  for (let from = 0; from < count; ) {
    const frames = await reader.frames(id, from, PAGE);
    if (frames.length === 0) return;
    for (const frame of frames) {
      const changes = await written(frame.index);
      const unrecorded = frame.verifiable ? [] : await unrecordedReads(reader, id, frame.index);
      terminal.print(
        json
          ? JSON.stringify({
              ...frame,
              planVersion: frame.planVersion ?? 1,
              ...(unrecorded.length > 0 && { unrecorded }),
              changes,
            })
          : describeFrame(frame, changes, unrecorded),
      );
    }
    from = (frames.at(-1)?.index ?? from) + 1;
  }
}

function describeFrame(frame: Frame, changes: readonly TransitionView[], unrecorded: readonly string[]): string {
  const { index, at, trigger, mounted, unmounted, digest, verifiable, planVersion } = frame;
  const by = planVersion === undefined ? '' : `  plan version ${planVersion}`;
  const read = unrecorded.length === 0 ? '' : `: it read ${shown(unrecorded.join(', '))}`;
  const why = trigger.detail === undefined ? trigger.kind : `${trigger.kind} (${trigger.detail})`;
  return [
    `${String(index).padStart(5)}  ${at}  ${shown(why)}  ${digest.slice(7, 19)}${by}${verifiable ? '' : `  cannot be verified${read}`}`,
    ...mounted.map(node => `       + ${shown(node)}`),
    ...unmounted.map(node => `       - ${shown(node)}`),
    ...changes.map(({ key, old, new: now, trigger: by }) => {
      const values = `${JSON.stringify(old) ?? '–'} → ${JSON.stringify(now) ?? '–'}`;
      return `       = ${shown(key)}: ${shown(values)}${by === undefined ? '' : `  ${shown(by)}`}`;
    }),
  ].join('\n');
}

/** A frame's transitions, in order. */
function transitionsByFrame(reader: Pick<Reader, 'transitions'>, run: RunRecord['id']) {
  let pending: readonly TransitionView[] = [];
  let next: { readonly frame: number; readonly index: number } | undefined = { frame: 0, index: 0 };
  return async (frame: number): Promise<readonly TransitionView[]> => {
    const found: TransitionView[] = [];
    for (;;) {
      const at = pending.findIndex(transition => seenIn(transition) > frame);
      found.push(...(at < 0 ? pending : pending.slice(0, at)));
      pending = at < 0 ? [] : pending.slice(at);
      if (at >= 0 || next === undefined) return found.filter(transition => seenIn(transition) === frame);
      const page: Awaited<ReturnType<Reader['transitions']>> = await reader.transitions(run, { from: next });
      pending = page.items;
      next = page.next;
    }
  };
}

/** A frame's writes are visible in the next frame; the initial state in the first. */
function seenIn({ frame, trigger }: TransitionView): number {
  return trigger === 'plan.initial' || trigger === 'run.forked' ? 0 : frame + 1;
}

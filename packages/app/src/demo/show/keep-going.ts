import path from 'node:path';
import type { RunId } from '@signalbox/model';
import type { RunHost } from '../../host/run-host.ts';
import type { Machine } from '../../machine.ts';

/** A parcel every so often, at a pace that a person can follow. */
const PACE_MS = 20_000;
/** How long a question waits for a person before the story goes on without one. */
const PATIENCE_MS = 90_000;
const PLAN = 'send-parcel.tsx';
const places = ['Lisbon', 'Oslo', 'Berlin', 'Porto', 'Bergen', 'Leipzig'] as const;
/** Who answers if nobody does. */
const NOBODY = 'demo';

/** How a person may take part. */
export const thingsToTry: readonly string[] = [
  'Approve or deny a parcel in the queue; after 90 seconds the demo approves it for you.',
  'Open import-orders: see why it failed, and retry it.',
  'Compare watch-prices with its fork, or fork it yourself from another frame.',
  'Find "Lisbon".',
];

/**
 * Goes on with the story until the returned function is called: again and again a parcel is packed, a person is asked, and it is sent or stays. Only
 * one is on its way at a time, so that nothing piles up while nobody looks.
 */
export function keepGoing(host: RunHost, timers: Machine['timers'], directory: string): () => void {
  let isOver = false;
  let stopTimer: () => void = () => undefined;
  const later = (ms: number, run: () => Promise<void>) => {
    stopTimer = timers.after(ms, () => {
      if (!isOver) void run().catch(() => undefined);
    });
  };

  async function send(parcel: number): Promise<void> {
    const next = () => later(PACE_MS, () => send(parcel + 1));
    const place = places[parcel % places.length] ?? places[0];
    const file = path.join(directory, PLAN);
    const name = `parcel ${parcel} to ${place}`;
    const started = await host.start({ file, anyFile: true, input: { parcel, place }, name, tags: ['parcels'] });
    if (!started.ok) return next();
    later(PATIENCE_MS, async () => {
      await answer(started.value);
      next();
    });
    await host.finished(started.value);
    if (isOver || (await host.reader.run(started.value))?.endedAt === undefined) return;
    stopTimer();
    next();
  }

  async function answer(run: RunId): Promise<void> {
    const [open] = await host.reader.decisions({ run, status: ['open'] });
    if (open === undefined) return;
    const rationale = 'Nobody answered, and the demo goes on.';
    await host.answer(
      open.decision.id,
      { resolution: { resolutionType: 'approve', rationale, actionKind: 'review' } },
      NOBODY,
    );
  }

  later(PACE_MS, () => send(1));
  return () => {
    isOver = true;
    stopTimer();
  };
}

export const parcelPlan = {
  [PLAN]: `// Packs a parcel, asks a person, and sends it.
import { definePlan, Human, If, Phase, Task } from 'signalbox';
import * as z from 'zod';

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>(resolve => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });

export default definePlan({
  name: 'send-parcel',
  input: z.object({ parcel: z.number(), place: z.string(), pace: z.number().default(4000) }),
  state: z.object({ weight: z.number().default(0), approved: z.boolean().optional(), sent: z.string().optional() }),
  render: ctx => (
    <>
      <Phase name="pack">
        <Task
          id="pack"
          run={async ({ signal }) => {
            await pause(ctx.input.pace, signal);
            return 1 + (ctx.input.parcel % 7);
          }}
          onFinished={weight => ctx.state.set('weight', weight)}
        />
      </Phase>
      <Phase name="ask">
        <Human
          id="ask"
          prompt={'Approve this: send parcel ' + ctx.input.parcel + ' (' + ctx.state.get('weight') + ' kg) to ' + ctx.input.place + '?'}
          onFinished={answer => ctx.state.set('approved', (answer as { approved: boolean }).approved)}
        />
      </Phase>
      <Phase name="send">
        <If condition={ctx.state.get('approved') === true}>
          <Task
            id="send"
            run={async ({ signal }) => {
              await pause(ctx.input.pace, signal);
              return 'on its way to ' + ctx.input.place;
            }}
            onFinished={sent => ctx.state.set('sent', sent)}
          />
        </If>
      </Phase>
    </>
  ),
});
`,
} as const;

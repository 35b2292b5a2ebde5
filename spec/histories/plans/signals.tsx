import { definePlan, End, Human, If } from 'signalbox';
import * as z from 'zod';

/** Waits, is told things from outside, is edited and stopped on the way, and ends when it heard enough. */
export default definePlan({
  name: 'signals',
  state: z.object({
    heard: z.array(z.object({ n: z.number(), at: z.string() })).default([]),
    extra: z.string().optional(),
  }),
  signals: {
    noted: { schema: z.null(), handle: () => {} },
    ping: {
      schema: z.object({ n: z.number() }),
      handle: ({ n }: { n: number }, ctx) => ctx.state.update('heard', heard => [...heard, { n, at: ctx.now() }]),
    },
  },
  render: ctx => (
    <>
      <Human id="wait" prompt={`Heard ${ctx.state.get('heard').length}. ${ctx.state.get('extra') ?? ''}`} />
      <If condition={ctx.state.get('heard').length >= 2}>
        <End />
      </If>
    </>
  ),
});

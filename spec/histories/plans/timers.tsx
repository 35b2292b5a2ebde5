import { definePlan, End, If, Phase, Task, Timer, While } from 'signalbox';
import * as z from 'zod';

const FAR = '2126-01-01T10:00:00+01:00';

/** Timers that wait for a duration, for a time that has passed, in a loop, and beside work; two that leave the plan before they fire. */
export default definePlan({
  name: 'timers',
  state: z.object({
    fired: z.array(z.string()).default([]),
    rounds: z.number().default(0),
    worked: z.boolean().default(false),
    woken: z.boolean().default(false),
  }),
  signals: { wake: { schema: z.null(), handle: (_, ctx) => ctx.state.set('woken', true) } },
  render: ctx => {
    const fire = (name: string) => ctx.state.update('fired', fired => [...fired, name]);
    return (
      <>
        <Phase name="short">
          <Timer id="past" until="2020-02-29T01:00:00+01:00" onFinished={due => fire(`past ${due}`)} />
          <Timer id="nap" forMs={20} onFinished={() => fire('nap')} />
          <Task id="work" run={() => 1} onFinished={() => ctx.state.set('worked', true)} />
          <If condition={!ctx.state.get('worked')}>
            <Timer id="left" until={FAR} onFinished={() => fire('left')} />
          </If>
        </Phase>
        <Phase name="repeat">
          <While id="rounds" condition={() => ctx.state.get('rounds') < 2} maxIterations={3}>
            <Timer id="round" forMs={1} onFinished={() => ctx.state.update('rounds', n => n + 1)} />
          </While>
        </Phase>
        <Phase name="long">
          <If condition={ctx.state.get('woken')} else={<Timer id="long" until={FAR} onFinished={() => fire('long')} />}>
            <End reason="woken" />
          </If>
        </Phase>
      </>
    );
  },
});

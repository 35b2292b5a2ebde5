// Agents side by side and one after the other, and a person between them.
import { Agent, definePlan, Human, Parallel, Phase } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'agents',
  input: z.object({ side: z.string() }),
  state: z.object({ said: z.array(z.string()).default([]) }),
  render: ctx => {
    const onFinished = (said: unknown) => ctx.state.update('said', all => [...all, String(said)]);
    return (
      <>
        <Phase name="first">
          <Parallel>
            <Agent id="one" model="test:model" prompt="Look at one." onFinished={onFinished} />
            <Agent id="two" model="test:model" prompt="Look at two." onFinished={onFinished} />
          </Parallel>
        </Phase>
        <Phase name="gate">
          <Human id="gate" prompt="Go on?" onFinished={onFinished} />
        </Phase>
        <Phase name="last">
          <Agent id="three" model="test:model" prompt="Look again." onFinished={onFinished} />
        </Phase>
      </>
    );
  },
});

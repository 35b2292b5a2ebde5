// A plan says, at every moment, what should be going on. It is rendered again whenever what it reads changes.
import { definePlan, Each, If, Phase, Step, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'hello',
  description: 'Greets everybody, and polishes what it said.',
  input: z.object({ names: z.array(z.string()).default(['Ada', 'Grace']).describe('Who is greeted') }),
  state: z.object({
    greetings: z.array(z.string()).default([]),
    polished: z.number().default(0),
  }),
  render: ctx => (
    <>
      {/* Phases run one after the other; inside a step everything starts at once. */}
      <Phase name="greet">
        <Step name="everybody">
          <Each items={ctx.input.names}>
            {name => (
              <Task
                key={name}
                id={`greet-${name}`}
                run={() => `Hello, ${name}`}
                onFinished={greeting => ctx.state.update('greetings', all => [...all, String(greeting)])}
              />
            )}
          </Each>
        </Step>
      </Phase>
      <Phase name="polish">
        <While id="until-it-shines" condition={ctx.state.get('polished') < 3} maxIterations={10}>
          <Task id="polish" run={() => 'shinier'} onFinished={() => ctx.state.update('polished', times => times + 1)} />
        </While>
      </Phase>
      <If condition={ctx.state.get('polished') >= 3}>
        <Task id="celebrate" run={() => ctx.state.get('greetings').length} />
      </If>
    </>
  ),
});

// Two agents that change nothing, so that there is nothing to keep; and a Keep whose agents never ran, which the plan replaces.
import { Agent, definePlan, If, Keep, Parallel, Phase } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'keep',
  input: z.object({ model: z.string().default('scripted:models/research.json') }),
  state: z.object({ kept: z.any().optional(), refused: z.string().optional() }),
  render: ctx => {
    const { model } = ctx.input;
    return (
      <>
        <Phase name="ask">
          <Parallel>
            <Agent id="one" model={model} maxTurns={2} prompt="Write a report in one sentence." />
            <Agent id="two" model={model} maxTurns={2} prompt="Write a report in two sentences." />
          </Parallel>
        </Phase>
        <Phase name="keep">
          <Keep id="keep" from={['one', 'two']} onFinished={({ kept }) => ctx.state.set('kept', kept)} />
        </Phase>
        <Phase name="again">
          <If condition={ctx.state.get('refused') === undefined}>
            <Keep
              id="nobody"
              from={['three']}
              apply="check"
              retries={0}
              onError={({ error }) => ctx.state.set('refused', error.message)}
            />
          </If>
        </Phase>
      </>
    );
  },
});

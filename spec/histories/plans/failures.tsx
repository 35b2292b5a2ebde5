import { definePlan, Phase, Task } from 'signalbox';
import * as z from 'zod';

let tries = 0;

/** Work that is tried again, that fails for good and is told, a handler that throws, and one that an operator has run anew. */
export default definePlan({
  name: 'failures',
  state: z.object({
    attempts: z.number().default(0),
    told: z.string().optional(),
    rescued: z.boolean().default(false),
  }),
  render: ctx => (
    <>
      <Phase name="flaky">
        <Task
          id="flaky"
          retries={3}
          run={({ attempt }) => {
            if (attempt < 3) throw Object.assign(new Error('busy'), { status: 503 });
            return attempt;
          }}
          onFinished={attempt => ctx.state.set('attempts', attempt)}
        />
      </Phase>
      <Phase name="rescue">
        {ctx.state.get('rescued') ? (
          <Task id="rescue" run={() => 'rescued'} />
        ) : (
          <Task
            id="fails"
            retries={0}
            run={() => {
              throw new Error('for good');
            }}
            onError={({ error }) => {
              ctx.state.set('told', error.code);
              ctx.state.set('rescued', true);
            }}
          />
        )}
      </Phase>
      <Phase name="again">
        <Task
          id="second-time"
          retries={0}
          run={() => {
            tries += 1;
            if (tries === 1) throw new Error('not yet');
            return tries;
          }}
        />
      </Phase>
    </>
  ),
});

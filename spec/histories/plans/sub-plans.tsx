import { definePlan, Phase, SubPlan, Task } from 'signalbox';
import * as z from 'zod';

const leaf = definePlan({
  name: 'leaf',
  input: z.object({ n: z.number() }),
  state: z.object({ twice: z.number().optional() }),
  render: ctx => (
    <Task id="double" input={ctx.input} run={() => ctx.input.n * 2} onFinished={n => ctx.state.set('twice', n)} />
  ),
});

const middle = definePlan({
  name: 'middle',
  input: z.object({ n: z.number() }),
  state: z.object({ sum: z.number().default(0) }),
  render: ctx => (
    <>
      {[1, 2].map(k => (
        <SubPlan
          key={k}
          id={`leaf ${k}`}
          plan={leaf}
          input={{ n: ctx.input.n + k }}
          onFinished={out => ctx.state.update('sum', sum => sum + ((out as { twice: number }).twice ?? 0))}
        />
      ))}
    </>
  ),
});

const failing = definePlan({
  name: 'failing',
  state: z.object({}),
  render: () => (
    <Task
      id="break"
      retries={0}
      run={() => {
        throw new Error('it breaks');
      }}
    />
  ),
});

/** Sub-plans in sub-plans, and one that fails and is told. */
export default definePlan({
  name: 'sub-plans',
  state: z.object({ sum: z.number().optional(), failed: z.boolean().default(false) }),
  render: ctx => (
    <>
      <Phase name="below">
        <SubPlan
          id="middle"
          plan={middle}
          input={{ n: 10 }}
          onFinished={out => ctx.state.set('sum', (out as { sum: number }).sum)}
        />
      </Phase>
      <Phase name="break">
        {ctx.state.get('failed') ? null : (
          <SubPlan id="failing" plan={failing} onError={() => ctx.state.set('failed', true)} />
        )}
      </Phase>
    </>
  ),
});

// Forty steps of every kind, each of which leaves a line in a side file whenever it really runs.
import { appendFileSync } from 'node:fs';
import { definePlan, Each, Human, If, Parallel, Phase, Step, SubPlan, Task, While } from 'signalbox';
import * as z from 'zod';

const input = z.object({ side: z.string() });

const inner = definePlan({
  name: 'inner',
  input,
  state: z.object({ sum: z.number().default(0) }),
  render: ctx => (
    <Phase name="inner">
      <Each items={[1, 2, 3, 4, 5]}>
        {n => (
          <Step key={String(n)} name={`inner-${n}`}>
            <Task
              id={`inner-${n}`}
              run={({ attempt }) => ran(ctx.input.side, `inner-${n}`, 0, attempt, n)}
              onFinished={value =>
                handled(ctx.input.side, `inner-${n}`, 0, () => ctx.state.update('sum', s => s + Number(value)))
              }
            />
          </Step>
        )}
      </Each>
    </Phase>
  ),
});

export default definePlan({
  name: 'crash',
  input,
  state: z.object({
    steps: z.array(z.string()).default([]),
    rounds: z.number().default(0),
    parallel: z.record(z.string(), z.number()).default({}),
    flaky: z.number().optional(),
    approved: z.boolean().default(false),
    inner: z.any().optional(),
  }),
  render: ctx => {
    const { side } = ctx.input;
    return (
      <>
        <Phase name="first">
          <Each items={Array.from({ length: 8 }, (_, n) => `step-${n}`)}>
            {name => (
              <Step key={name} name={name}>
                <Task
                  id={name}
                  run={({ attempt }) => ran(side, name, 0, attempt, name)}
                  onFinished={value =>
                    handled(side, name, 0, () => ctx.state.update('steps', all => [...all, String(value)]))
                  }
                />
              </Step>
            )}
          </Each>
        </Phase>
        <Phase name="parallel">
          <Parallel limit={3}>
            <Each items={Array.from({ length: 8 }, (_, n) => `parallel-${n}`)}>
              {name => (
                <Task
                  key={name}
                  id={name}
                  run={({ attempt }) => ran(side, name, 0, attempt, name.length)}
                  onFinished={value =>
                    handled(side, name, 0, () =>
                      ctx.state.update('parallel', all => ({ ...all, [name]: Number(value) })),
                    )
                  }
                />
              )}
            </Each>
          </Parallel>
        </Phase>
        <Phase name="loop">
          <While id="rounds" condition={ctx.state.get('rounds') < 8} maxIterations={20}>
            {({ iteration }) => (
              <>
                <Task id="work" run={({ attempt }) => ran(side, 'work', iteration, attempt, iteration)} />
                <Task
                  id="count"
                  run={({ attempt }) => ran(side, 'count', iteration, attempt, iteration)}
                  onFinished={() => handled(side, 'count', iteration, () => ctx.state.update('rounds', n => n + 1))}
                />
              </>
            )}
          </While>
        </Phase>
        <Phase name="flaky">
          <Task
            id="flaky"
            run={({ attempt }) => {
              ran(side, 'flaky', 0, attempt, 0);
              if (attempt === 1) throw Object.assign(new Error('busy'), { status: 503 });
              return 7;
            }}
            onFinished={value => handled(side, 'flaky', 0, () => ctx.state.set('flaky', Number(value)))}
          />
        </Phase>
        <Phase name="gate">
          <Human
            id="gate"
            prompt="Go on?"
            onFinished={() => handled(side, 'gate', 0, () => ctx.state.set('approved', true))}
          />
        </Phase>
        <Phase name="sub">
          <If condition={ctx.state.get('approved')}>
            <SubPlan
              id="inner"
              plan={inner}
              input={{ side }}
              onFinished={output => handled(side, 'inner', 0, () => ctx.state.set('inner', output))}
            />
          </If>
        </Phase>
      </>
    );
  },
});

function ran<Value>(side: string, node: string, iteration: number, attempt: number, value: Value): Value {
  appendFileSync(side, `ran ${node} ${iteration} ${attempt}\n`);
  return value;
}

function handled(side: string, node: string, iteration: number, handle: () => void): void {
  appendFileSync(side, `handled ${node} ${iteration}\n`);
  handle();
}

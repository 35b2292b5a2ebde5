import { type AnyPlan, definePlan, Phase, type PlanElement, Step, Task, While } from '@signalbox/plan';
import { jsx } from '@signalbox/plan/jsx-runtime';
import * as z from 'zod';

export function bareTasks(steps: number): AnyPlan {
  const tasks = Array.from({ length: steps }, (_, n) => stepOf({ id: `n${n}`, run: () => n }, n));
  return definePlan({ name: 'bare', render: () => el(Phase, { name: 'all' }, tasks) });
}

/** As the floor: a result of some 200 bytes, and 100 bytes of state in one of 50 keys. */
export function writingTasks(steps: number): AnyPlan {
  const keys = Array.from({ length: 50 }, (_, n) => `k${n}`);
  return definePlan({
    name: 'writing',
    state: z.object(Object.fromEntries(keys.map(key => [key, z.string().optional()]))),
    render: ctx =>
      el(
        Phase,
        { name: 'all' },
        Array.from({ length: steps }, (_, n) =>
          stepOf(
            {
              id: `n${n}`,
              run: () => ({ n, pad: pad(100) }),
              onFinished: () => ctx.state.set(`k${n % 50}`, `${n} ${pad(90)}`),
            },
            n,
          ),
        ),
      ),
  });
}

export function iterations(steps: number): AnyPlan {
  return definePlan({
    name: 'iterations',
    state: z.object({ n: z.number().default(0) }),
    render: ctx =>
      el(
        While,
        { condition: () => ctx.state.get('n') < steps, maxIterations: steps },
        el(Task, { run: () => pad(100), onFinished: () => ctx.state.update('n', n => n + 1) }),
      ),
  });
}

export function growingState(steps: number): AnyPlan {
  return definePlan({
    name: 'growing',
    state: z.object({ n: z.number().default(0), log: z.array(z.string()).default([]) }),
    render: ctx =>
      el(
        While,
        { condition: () => ctx.state.get('n') < steps, maxIterations: steps },
        el(Task, {
          run: () => 0,
          onFinished() {
            ctx.state.update('n', n => n + 1);
            ctx.state.update('log', log => [...log, pad(197)]);
          },
        }),
      ),
  });
}

/** A step of its own: steps run one after the other. */
export function stepOf(task: object, key: number): PlanElement {
  return el(Step, {}, el(Task, task), key);
}

export function el(type: unknown, props: object, children?: unknown, key?: unknown): PlanElement {
  return jsx(type as Parameters<typeof jsx>[0], { ...props, ...(children === undefined ? {} : { children }) }, key);
}

function pad(length: number): string {
  return 'x'.repeat(length);
}

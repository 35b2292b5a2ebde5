/** Sources of plans for the program, which loads them from files. */

/** As `writingTasks` of `bench/plan/plans.ts`. */
export function writingPlan(steps: number): string {
  return stepsPlan(steps, '', "({ n, pad: 'x'.repeat(100) })");
}

/** As `writingPlan`, with tasks that declare that they may run twice. */
export function repeatablePlan(steps: number): string {
  return writingPlan(steps).replace('<Task', '<Task effects="none"');
}

/** As `writingPlan`; the first task in each process writes down when it ran. */
export function markingPlan(steps: number, mark: string): string {
  return stepsPlan(
    steps,
    `
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
const mark = () => (writeFileSync(${JSON.stringify(mark)}, String(performance.timeOrigin + performance.now())), true);`,
    "{ globalThis.isMarked ??= mark(); return { n, pad: 'x'.repeat(100) }; }",
  );
}

/** What `markingPlan` writes down, by a bare Node. */
export function markingScript(mark: string): string {
  return `import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
writeFileSync(${JSON.stringify(mark)}, String(performance.timeOrigin + performance.now()));
`;
}

/** Tasks that wait for each other in one list. */
export function siblingsPlan(siblings: number): string {
  return `
import { definePlan, Parallel, Task } from 'signalbox';
export default definePlan({
  name: 'siblings',
  render: () => (
    <Parallel limit={1}>
      {Array.from({ length: ${siblings} }, (_, n) => <Task key={String(n)} id={'n' + n} run={() => n} />)}
    </Parallel>
  ),
});
`;
}

export function waitingPlan(): string {
  return `
import { definePlan, Human } from 'signalbox';
export default definePlan({
  name: 'waiting',
  render: () => <Human id="ask" prompt="Go on?" options={[{ id: 'yes' }, { id: 'no' }]} />,
});
`;
}

function stepsPlan(steps: number, head: string, result: string): string {
  return `
import { definePlan, Phase, Step, Task } from 'signalbox';
import * as z from 'zod';
${head}
const keys = Array.from({ length: 50 }, (_, n) => 'k' + n);
export default definePlan({
  name: 'writing',
  state: z.object(Object.fromEntries(keys.map(key => [key, z.string().optional()]))),
  render: ctx => (
    <Phase name="all">
      {Array.from({ length: ${steps} }, (_, n) => (
        <Step key={String(n)}>
          <Task
            id={'n' + n}
            run={() => ${result}}
            onFinished={() => ctx.state.set(keys[n % 50], n + ' ' + 'x'.repeat(90))}
          />
        </Step>
      ))}
    </Phase>
  ),
});
`;
}

import { writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * A plan that takes a step whenever it is told to, by a file, and says with each what globals, clock and timers make of it. Each
 * bystander is a plan of its own.
 */
export const bystander = (folder: string, name: string): string => `
import { existsSync } from 'node:fs';
import { definePlan, Task, While } from 'signalbox';
import * as z from 'zod';
// ${name}
const told = (step: string) => existsSync(${JSON.stringify(folder)} + '/' + step);
async function step(n: number) {
  while (!told('step-' + n) && !told('end')) await new Promise(resolve => setTimeout(resolve, 5));
  if (!told('step-' + n)) return -1;
  const sane = JSON.stringify(Object.entries({ a: [3, 1, 2].toSorted().map(x => x * 2) })) === '[["a",[2,4,6]]]';
  const time = new Date().getFullYear() > 2000 && Math.abs(Date.now() - Date.parse(new Date().toISOString())) < 1000;
  return sane && time && (await Promise.all([1, Promise.resolve(2)])).length === 2 ? n + 1 : -2;
}
export default definePlan({
  name: 'bystander',
  state: z.object({ n: z.number().default(0), isOver: z.boolean().default(false) }),
  render: ctx => (
    <While id="steps" condition={!ctx.state.get('isOver')} maxIterations={10_000}>
      <Task id="step" run={() => step(ctx.state.get('n'))}
        onFinished={n => n === -1 ? ctx.state.set('isOver', true) : ctx.state.set('n', n)} />
    </While>
  ),
});
`;

export const tell = (folder: string, step: string): void => writeFileSync(path.join(folder, step), '');

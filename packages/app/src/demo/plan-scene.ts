import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ErrorEnvelope, Result } from '@signalbox/model';
import { type Program, startChild } from '../child/child-process.ts';
import { isInterrupted } from '../host/interrupted-runs.ts';
import { type Home, openHome } from '../host/open-home.ts';
import { thisMachine } from '../machine.ts';
import type { Scene } from './scene.ts';

export const DRIVE_PLAN = 'drive-plan';

/** A plan with an agent, killed while it works and continued in another process. */
export const planScene = (home: string, program: Program): Scene<unknown> => ({
  title: 'A plan with an agent is killed and resumes',
  async play(log) {
    const place = path.join(home, 'plan');
    writePlan(place);
    const child = startChild(program, DRIVE_PLAN, place);
    const line = await child.firstLine;
    const end = await child.kill();
    const wasKilled = line !== undefined && end.kind === 'killed' && end.signal === 'SIGKILL';
    if (!log.claim('a process ran a task and an agent, and was killed in the third step', wasKilled)) return;
    log.tell(`side.txt: ${sideOf(place).join(', ')}`);

    rmSync(path.join(place, 'hold'));
    const opened = await openPlace(place);
    if (!opened.ok) return void log.claim(opened.error.message, false);
    const { host, close } = opened.value;
    const [run] = (await host.reader.runs()).items;
    const isFound = run !== undefined && isInterrupted(run);
    log.claim('the next process owns the data at once and finds the interrupted run', isFound);
    if (!isFound) return close();
    const begun = performance.now();
    await host.resume(run.id);
    await host.finished(run.id);
    const took = Math.ceil(performance.now() - begun);
    const ended = await host.reader.run(run.id);
    await close();
    log.tell(`it took ${took} ms; side.txt: ${sideOf(place).join(', ')}`);
    log.claim('the run completes without repeating committed work', isWhole(place, ended?.status));
    const report = (ended?.output as { readonly report?: unknown } | undefined)?.report;
    log.claim(`the agent's output from before the crash is there: ${JSON.stringify(report)}`, report === REPORT);
  },
});

/** Starts the plan, prints a line when the endless step has started, and waits to be killed. */
export async function drivePlan([place = '']: readonly string[], print: (line: string) => void): Promise<number> {
  const opened = await openPlace(place);
  if (!opened.ok) return 1;
  const { host } = opened.value;
  host.feed.subscribe('all', ({ events }) => {
    for (const { event } of events) if (event.type === 'task.started' && event.node === 'publish') print('publishing');
  });
  const started = await host.start({ file: path.join(place, 'plan.tsx'), anyFile: true, input: {} });
  if (started.ok) await host.finished(started.value);
  return started.ok ? 0 : 1;
}

function openPlace(place: string): Promise<Result<Home, ErrorEnvelope>> {
  const dataDirectory = path.join(place, 'data');
  return openHome({ dataDirectory, machine: thisMachine(), env: {}, threads: { threads: 1 } });
}

/** The interrupted step may or may not have started before; the previous one ran once. */
function isWhole(place: string, status: string | undefined): boolean {
  return status === 'completed' && /^count( publish){1,2}$/.test(sideOf(place).join(' '));
}

const sideOf = (place: string): readonly string[] =>
  readFileSync(path.join(place, 'side.txt'), 'utf8').trimEnd().split('\n');

function writePlan(place: string): void {
  mkdirSync(place, { recursive: true });
  writeFileSync(path.join(place, 'hold'), '');
  writeFileSync(path.join(place, 'plan.tsx'), PLAN);
  writeFileSync(path.join(place, 'model.json'), `${JSON.stringify(MODEL, null, 2)}\n`);
}

const REPORT = 'Three files, all in order.';

/** The scripted model's answers. */
const MODEL = { version: 1, rules: [{ when: { promptMatches: 'report' }, text: REPORT }] };

const PLAN = `import { appendFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { Agent, definePlan, Phase, Task } from 'signalbox';
import * as z from 'zod';

const here = (name: string) => path.join(import.meta.dirname, name);
const note = (step: string) => appendFileSync(here('side.txt'), step + '\\n');

export default definePlan({
  name: 'demo',
  state: z.object({ files: z.number().default(0), report: z.string().default('') }),
  render: ctx => (
    <>
      <Phase name="count">
        <Task id="count" run={() => { note('count'); return 3; }} onFinished={files => ctx.state.set('files', files)} />
      </Phase>
      <Phase name="report">
        <Agent
          id="report"
          model="scripted:model.json"
          prompt={\`Write a report on \${ctx.state.get('files')} files.\`}
          onFinished={report => ctx.state.set('report', report)}
        />
      </Phase>
      <Phase name="publish">
        <Task
          id="publish"
          run={async ({ signal }) => {
            note('publish');
            while (existsSync(here('hold')) && !signal.aborted) await new Promise(resolve => setTimeout(resolve, 10));
          }}
        />
      </Phase>
    </>
  ),
});
`;

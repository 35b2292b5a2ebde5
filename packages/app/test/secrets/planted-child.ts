// An owner of the data directory in FOLDER, with the variables in FOLDER/env.json, which plays its part of the story with the
// secrets in FOLDER/planted.json. It prints one line when it is ready to be killed, and everything that it is answered.
//   node planted-child.ts FOLDER begin      starts a run and a guided session, and goes on until it is killed
//   node planted-child.ts FOLDER end RUN    takes the run up, answers its question, ends both and exports them
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type ErrorEnvelope, type Resolution, type Result, type RunId } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { backupHome } from '../../src/backup/backup-home.ts';
import { exportSession, openGuidedDesk, openGuidedTools, showSession } from '../../src/guided/index.ts';
import { openHome } from '../../src/host/open-home.ts';
import { takeUp } from '../../src/host/take-up.ts';
import { thisMachine } from '../../src/machine.ts';
import { until } from '../support/until.ts';
import { type Planted, REDACTED } from './planted-secrets.ts';

const [folder = '', part = ''] = process.argv.slice(2);
const dataDirectory = path.join(folder, 'data');
const jsonOf = (name: string) => JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
const planted: Planted = jsonOf('planted.json');
Object.assign(process.env, jsonOf('env.json'));
const machine = thisMachine();
const opened = await openHome({ dataDirectory, machine, env: process.env, threads: { threads: 1 } });
if (!opened.ok) throw new Bug(opened.error.message);
const { host, owned, close } = opened.value;
const { store } = owned;
const tools = openGuidedTools({ dataDirectory, directories: [], machine: { ids: machine.ids, rng: seededRng(1) } });

await { begin, end }[part as 'begin' | 'end']();

async function begin(): Promise<void> {
  const start = value(await tools.start({ workflowId: 'wr.bug-investigation', startKey: 'planted' }));
  const first = filledIn(start, { ticket: planted.context });
  const notes = `${first.output?.notesMarkdown}\n${planted.notes}`;
  const second = value(await tools.continue({ ...first, output: { ...first.output, notesMarkdown: notes } }));
  writeFileSync(path.join(folder, 'session.json'), JSON.stringify(second));
  say(start, second);
  const run = value(
    await host.start({
      file: path.join(folder, 'planted.tsx'),
      anyFile: true,
      input: { folder, note: planted.input },
      name: `a run with ${planted.name}`,
      tags: [planted.tag],
      correlationId: planted.correlation,
      by: 'tester',
    }),
  );
  console.log(run);
  await host.finished(run);
}

async function end(): Promise<void> {
  const [run] = await takeUp(host);
  if (run === undefined) throw new Bug('nothing was left');
  const [question] = await until(async () => {
    const open = await store.decisions({ run, status: ['open'] });
    return open.length === 0 ? undefined : open;
  });
  if (question === undefined) throw new Bug('nothing is asked');
  const ended = await host.finished(run);
  const resolution = { resolutionType: 'approve', rationale: planted.rationale, actionKind: 'review' } as Resolution;
  say(question, ended, value(await host.answer(question.decision.id, { resolution }, 'tester')));
  value(await host.resume(run));
  say(await host.finished(run));
  const redacted = value(await host.redactions.redact(run, { value: planted.found, name: 'FOUND_TOKEN' }, 'tester'));
  console.log(REDACTED);
  say(redacted);
  // A refusal quotes the request.
  writeFileSync(path.join(folder, 'broken.tsx'), `throw new Error(${JSON.stringify(planted.broken)});`);
  say(await host.start({ file: path.join(folder, 'broken.tsx'), anyFile: true, input: {} }));
  say(await host.inspection.describePlan(path.join(folder, 'planted.tsx')));
  await everything(run);
  value(await host.bundles.export(run, path.join(folder, 'run.bundle')));
  await walkOn();
  await close();
  value(backupHome(dataDirectory, path.join(folder, 'backup'), machine.clock));
}

/** All that readers tell of a run. */
async function everything(run: RunId): Promise<void> {
  const tasks = await store.tasks(run);
  const { items: artifacts } = await store.artifactList({ run, versions: 'all' });
  const streams = await Promise.all(tasks.map(({ id }) => store.stream(run, id, 0, 500)));
  const frames = (await store.run(run))?.frames ?? 0;
  say(await store.run(run), tasks, artifacts, streams);
  say(await store.events(run, 0, 500), await store.decisions({ run }), await store.transitions(run, {}));
  for (const space of ['node', 'status', 'state', 'read'] as const) say([...(await store.at(run, space, frames))]);
  const agent = tasks.find(({ node }) => node === 'agent');
  if (agent !== undefined) say(await host.inspection.nodeInput(run, agent.node));
}

async function walkOn(): Promise<void> {
  const last = jsonOf('session.json');
  const needsFromUser = [{ reason: 'needs_user_secret_or_token', summary: `the key ${planted.need}` }];
  const next = filledIn(last);
  say(await tools.continue({ ...next, output: { ...next.output, needsFromUser } } as never));
  const desk = openGuidedDesk({ dataDirectory, rng: seededRng(1) });
  const [gap] = value(desk.waiting());
  if (gap === undefined) throw new Bug('no gap waits');
  say(gap, await desk.answer(gap.sessionId, gap.gap.gapId, { kind: 'answered', value: planted.answer }));
  const exported = value(exportSession({ dataDirectory, clock: machine.clock, appVersion: '1' }, gap.sessionId));
  writeFileSync(path.join(folder, 'session.bundle'), exported.text);
  say(exported, await showSession({ dataDirectory, directories: [] }, gap.sessionId));
}

function value<T>(result: Result<T, ErrorEnvelope>): T {
  if (!result.ok) throw new Bug(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

/** Answers are searched, every one of them. */
function say(...answers: readonly unknown[]): void {
  for (const answer of answers) console.log(JSON.stringify(answer));
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { ErrorEnvelope, Result } from '@signalbox/model';
import { historyFault } from '@signalbox/workflow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import type { CheckpointAnswer, GuidedTools, StepAnswer } from '../src/index.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, eventsOf, value } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

const CALLS = process.env.SIGNALBOX_SOAK === '1' ? 500 : 40;

type Call = <T>(name: keyof GuidedTools, input: unknown) => Promise<Result<T, ErrorEnvelope>>;

/** Calls of a process of its own, one at a time. */
async function anotherProcess(directory: string): Promise<Call> {
  const child: ChildProcess = fork(childScript(import.meta.dirname, 'support/calls-child.ts'), [directory]);
  onTestFinished(async () => {
    const closed = once(child, 'exit');
    child.disconnect();
    await closed;
  });
  await once(child, 'message');
  return async (name, input) => {
    const answered = once(child, 'message');
    child.send({ name, input });
    return (await answered)[0];
  };
}

const thisProcess =
  (tools: GuidedTools): Call =>
  async (name, input) =>
    (await tools[name](input as never)) as never;

/** Goes from checkpoint to checkpoint, each call right after the answer before it. */
async function markOnAndOn(start: StepAnswer, callers: readonly Call[]): Promise<void> {
  let token = start.checkpointToken;
  for (let count = 0; count < CALLS; count++) {
    const call = callers[count % callers.length];
    const marked = await call?.<CheckpointAnswer>('checkpoint', { checkpointToken: token, notesMarkdown: `${count}` });
    token = value(marked as Result<CheckpointAnswer, ErrorEnvelope>).checkpointToken;
  }
}

describe('calls in quick succession', () => {
  it('[G41] of one process are never refused, nor are those that come while others are running', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.research' }));
    await markOnAndOn(start, [thisProcess(tools)]);
    const next = value(await tools.continue(filledIn(start)));
    const { checkpointToken = '' } = value(await tools.continue({ stateToken: next.stateToken }));
    const mixed = await Promise.all(
      Array.from({ length: CALLS }, (_, index) =>
        index % 3 === 0
          ? tools.checkpoint({ checkpointToken })
          : index % 3 === 1
            ? tools.continue(filledIn(next))
            : tools.continue({ stateToken: next.stateToken }),
      ),
    );
    expect(mixed.flatMap(answer => (answer.ok ? [] : [answer.error]))).toEqual([]);
    expect(historyFault(eventsOf(directory, start.sessionId))).toBeUndefined();
  });

  it('[G41] of two processes in turn are never refused: nothing is done after an answer', async () => {
    const directory = dataDirectory();
    const [one, two] = await Promise.all([anotherProcess(directory), anotherProcess(directory)]);
    const start = value(await one<StepAnswer>('start', { workflowId: 'wr.research' }));
    await markOnAndOn(start, [one, two]);
    const step = value(await two<StepAnswer>('continue', filledIn(start)));
    expect(value(await one<StepAnswer>('continue', filledIn(start)))).toEqual(step);
    const events = eventsOf(directory, start.sessionId);
    expect(events.filter(event => event.kind === 'node_created').length).toBe(CALLS + 2);
    expect(historyFault(events)).toBeUndefined();
  });
});

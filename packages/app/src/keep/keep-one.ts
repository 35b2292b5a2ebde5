import { heldChoiceOf, heldQuestion, pastTurn, reviewQuestion } from '@signalbox/adapters/agents';
import { Bug, cutAtWord, type ErrorEnvelope, type Json, ok, type Result, type RunId } from '@signalbox/model';
import { KEEP_NONE, type KeepNode, type Kept, type TaskOutcome } from '@signalbox/plan';
import type { NodeKey, RunReader } from '@signalbox/runs';
import type { HeldChoice } from '@signalbox/state';
import type { AgentTools } from '../agents/agent-tools.ts';
import type { DecisionDesk } from '../decisions/decision-desk.ts';
import type { RemoteRequest } from '../threads/thread-api.ts';
import { readPlace } from '../undo/checkpoint-files.ts';
import { type AttemptFacts, attemptFacts } from './attempt-facts.ts';
import { keepProposal } from './keep-proposal.ts';

export interface KeepPorts {
  readonly reader: RunReader;
  readonly decisions: DecisionDesk;
  /** Without it nothing is held. */
  readonly tools?: AgentTools | undefined;
}

type Bench = Extract<Awaited<ReturnType<AgentTools['open']>>, { ok: true }>['value'];
type Candidate = AttemptFacts & { readonly call: string };

/**
 * The work of a `Keep`: applies the held changes of one attempt at most, and drops those of the others.
 *
 * 1. The choice is durable before anything is applied: it is a person's answer, or follows from the transcripts.
 * 2. It can be done again after a crash at any moment: changes that were applied are found by their checkpoint, and not applied twice.
 * 3. Changes are dropped only once the chosen ones are applied, or nothing is to be kept.
 */
export async function keepOne(ports: KeepPorts, request: RemoteRequest): Promise<TaskOutcome> {
  const { reader, decisions } = ports;
  const { run, node: keep, totalIteration: iteration, task } = request;
  const { from, apply, prompt } = (keep as KeepNode).data;
  const attempts = await attemptsOf(reader, run, from);
  if (attempts.every(({ told }) => told.error !== undefined)) return failed('nothing-to-keep', noneDone(attempts));
  const candidates = attempts.filter((one): one is Candidate => one.call !== undefined);
  const ask = async (call: string, proposal: Json) =>
    decisions.ask({ run, node: keep.id as NodeKey, iteration, call, kind: 'choice', proposal });

  const chosen = await choose();
  if (chosen === 'waits') return { kind: 'blocked', reason: 'approval_required:choice' };
  let kept = chosen;
  if (chosen !== undefined) {
    const settled = await applied(chosen);
    if (settled === 'waits') return { kind: 'blocked', reason: 'approval_required:choice' };
    if (settled === 'dropped') kept = undefined;
    else if (settled !== 'applied') return failed('changes-not-applied', settled);
  }
  for (const candidate of candidates) if (candidate !== chosen) await dropped(candidate);
  const output: Kept = { kept: kept?.told.node ?? null, attempts: attempts.map(({ told }) => told) };
  return { kind: 'done', output: output as unknown as Json };

  async function choose(): Promise<Candidate | undefined | 'waits'> {
    if (apply === 'never' || candidates.length === 0) return undefined;
    if (apply === 'check') return candidates.find(({ told }) => told.check?.passed === true);
    const answer = await ask(task, keepProposal(attempts, candidates, prompt));
    if (answer === undefined) return 'waits';
    const { resolutionType, chosenOptionId } = answer;
    if (resolutionType !== 'choose_option' || chosenOptionId === KEEP_NONE) return undefined;
    return candidates.find(({ told }) => told.node === chosenOptionId);
  }

  /** Applies the changes of an attempt. A person is asked if somebody else changed the same since, and if git would run some of them. */
  async function applied(candidate: Candidate): Promise<'applied' | 'dropped' | 'waits' | string> {
    const opened = await benchOf(candidate);
    if (!opened.ok) return `${opened.error.message} ${opened.error.suggestion}`;
    const bench = opened.value;
    const { call } = candidate;
    try {
      for (;;) {
        const fate = await bench.fateOf(call);
        if (fate === 'committed') return 'applied';
        const stored = bench.held(call);
        if (stored === undefined) return `The changes of node ${candidate.told.node} are not there any more.`;
        const now = await bench.heldNow(call);
        const held = now?.held ?? stored;
        let choice: HeldChoice = 'apply-all';
        const isAsked = held.conflicts.length > 0 || held.programs !== undefined || held.failed !== undefined;
        if (isAsked) {
          const shown = { title: candidate.told.node, diff: await bench.heldDiff(call) };
          const question = held.conflicts.length > 0 ? heldQuestion(call, held) : reviewQuestion(call, held, shown);
          const answer = await ask(question.call, question.proposal);
          if (answer === undefined) {
            await now?.keep();
            return 'waits';
          }
          choice = heldChoiceOf(answer);
        }
        const outcome = await bench.settle(call, choice, isAsked ? 'person' : 'plan');
        if (outcome === undefined) continue;
        if (outcome.status === 'succeeded') return 'applied';
        return choice === 'drop' ? 'dropped' : outcome.error.message;
      }
    } finally {
      await bench.close();
    }
  }

  async function dropped(candidate: Candidate): Promise<void> {
    const opened = await benchOf(candidate);
    // What cannot be dropped now is removed with its run.
    if (!opened.ok) return;
    if (opened.value.held(candidate.call) !== undefined) await opened.value.settle(candidate.call, 'drop', 'plan');
    await opened.value.close();
  }

  async function benchOf({ task: { id } }: Candidate): Promise<Result<Bench, ErrorEnvelope>> {
    const { tools } = ports;
    if (tools === undefined) throw new Bug('changes are held where no tools are');
    const place = readPlace(tools.checkpoints(run), id);
    if (place === undefined) throw new Bug(`task ${id} holds changes of no directory`);
    const bench = await tools.open({ run, task: id, directory: place.root }, [pastTurn]);
    return bench.ok ? ok(bench.value) : bench;
  }
}

/** Characters of each agent's error that the error of a `Keep` repeats. */
const MOST_WHY = 200;

/** The last task of each node, in the order of the nodes. A node that never began is left out. */
async function attemptsOf(
  reader: KeepPorts['reader'],
  run: RunId,
  nodes: readonly string[],
): Promise<readonly AttemptFacts[]> {
  const tasks = await Promise.all(
    nodes.map(async node => (await reader.tasks(run, { node: node as NodeKey })).findLast(task => task.node === node)),
  );
  return Promise.all(tasks.flatMap(task => (task === undefined ? [] : [attemptFacts(reader, run, task)])));
}

function noneDone(attempts: readonly AttemptFacts[]): string {
  if (attempts.length === 0) return 'None of its nodes has run.';
  const why = attempts.map(({ told }) => `${told.node}: ${cutAtWord(told.error ?? '', MOST_WHY)}`);
  return `No agent is done. ${why.join(' ')}`;
}

function failed(code: string, message: string): TaskOutcome {
  return { kind: 'failed', error: { class: 'terminal', code, message } };
}

import { Bug, cutAtWord, type Json } from '@signalbox/model';
import type { AgentOutcome, AgentRunner, AgentSession, Assignment, TaskError } from '@signalbox/runs';
import type { HeldChoice, LayerEntry, ToolOutcome } from '@signalbox/state';
import type { AgentTools } from '../attempt/agent-tools.ts';
import { answerCheckOf } from '../attempt/answer-check.ts';
import { heldChoiceOf, heldQuestion, reviewQuestion } from '../attempt/held-changes.ts';
import { plainData } from '../attempt/plain-data.ts';
import { createRedactor } from '../attempt/redaction.ts';
import { rollbackWords } from '../attempt/rollback-words.ts';
import { canceledFailure, failed, taskFailure } from '../attempt/task-failure.ts';
import { checkTurn, type TurnCheck } from '../attempt/turn-check.ts';
import { secretsOf } from './agent-home.ts';
import type { AcpPorts, ChosenAgent } from './agent-process.ts';
import { runTurn, type TurnContext, type TurnEnd } from './agent-turn.ts';
import { isWritten, writtenPaths } from './layer-traces.ts';
import { type LeftSession, leftSession } from './left-session.ts';
import { createOpenTurns, type OpenTurn, type OpenTurns, overlapWords, type TurnOnLayer } from './open-turns.ts';
import { canContinue } from './session-opening.ts';
import { AGENT_TURN, readTurns } from './turn-history.ts';
import { turnTool } from './turn-tool.ts';

/**
 * Runs agents that speak the Agent Client Protocol.
 *
 * 1. One attempt is one process and one session in one call of the tool `agent_turn`: its changes are applied as a whole, or not at all. An attempt
 *    after one that was cut off continues its session only if nothing that the agent had changed was dropped, and if the agent is known to have its prompt.
 * 2. The answer is kept before the changes are applied, so a turn that took effect is not repeated.
 * 3. Nothing is retried here: retries belong to the task, and are durable.
 */
export function createAcpRunner(ports: AcpPorts): AgentRunner {
  const turns = createOpenTurns();
  return {
    async run(assignment, session) {
      const chosen = await ports.agentOf(assignment);
      if (!chosen.ok) return failed(chosen.error);
      const redact = createRedactor(secretsOf(chosen.value));
      try {
        // Nothing keeps its changes inside its directory: a person has to see each of them.
        const permissions = chosen.value.isUnconfined === true ? 'gated' : assignment.permissions;
        const given = { ...assignment, permissions };
        const outcome = await attempt(given, session, chosen.value, { ports, openTurns: turns });
        if (outcome.kind !== 'failed') return outcome;
        return failed({ ...outcome.error, message: redact.text(outcome.error.message) });
      } catch (thrown) {
        // A wait for an admission or a commit may end with a throw.
        if (session.signal.aborted && !(thrown instanceof Bug)) return failed(canceledFailure());
        throw thrown;
      }
    },
  };
}

async function attempt(
  assignment: Assignment,
  session: AgentSession,
  chosen: ChosenAgent,
  { ports, openTurns }: { readonly ports: AcpPorts; readonly openTurns: OpenTurns },
): Promise<AgentOutcome> {
  const { row } = chosen;
  const isCostKnown = chosen.meter !== undefined || row.reports.cost;
  if (!isCostKnown && ports.costLimited?.(assignment) === true) return failed(costUnknown(assignment, chosen));
  const check = assignment.schema === undefined ? undefined : answerCheckOf(assignment.schema);
  if (check?.ok === false) return failed(check.error);

  const redact = createRedactor(secretsOf(chosen));
  const keep = (entry: unknown) => session.keep([redact.data(plainData(entry))]);
  const turns = readTurns(await session.transcript(), assignment.task);
  if (turns.done !== undefined) return { kind: 'done', output: turns.done };
  const { call } = turns;

  let end: TurnEnd | undefined;
  let open: OpenTurn | undefined;
  let isUntouched = false;
  let crash: { readonly cause: unknown } | undefined;
  const { forked } = turns;
  const isTold = turns.isPending && (forked !== undefined || assignment.resume !== 'restart');
  const left = isTold ? leftSession(forked ?? turns.entries) : undefined;
  const isSame = left?.agent.id === row.id && left.agent.version === chosen.installed.version;
  const home = await ports.configHome(assignment, isSame && forked === undefined && canContinue(chosen));
  const context: TurnContext = {
    ...{ ports, assignment, session, chosen, redact, home: home.path },
    took: home.took,
    opened(place) {
      open = place.layer && openTurns.begin({ ...turnOf(assignment, row.title), ...lookOf(place.layer, place.root) });
      return open;
    },
    ...(check && { check: check.value }),
    ...(left && { before: turnBefore(left) }),
  };
  const { apply = 'auto' } = assignment;
  const isHeld = apply !== 'auto' || assignment.check !== undefined;
  const turn = turnTool(
    () => isHeld,
    async place => {
      end = undefined;
      isUntouched = false;
      crash = undefined;
      const noLook = isHeld && place.layer === undefined;
      if (noLook || (assignment.check !== undefined && place.layer?.copy !== undefined)) {
        end = { kind: 'failed', error: noLayer(assignment) };
        return end;
      }
      try {
        ({ end, isUntouched } = await runTurn(context, place));
        if (end.kind === 'answered') await keep({ v: 1, kind: 'answer', call, output: end.output });
        return end;
      } catch (cause) {
        crash = { cause };
        throw cause;
      }
    },
  );
  try {
    const opened = await ports.benchFor(assignment, turn);
    if (!opened.ok) return failed(opened.error);
    try {
      const outcome = await worked(opened.value);
      // Changes that wait for a person or for a `Keep` can still overlap with those of others.
      if (opened.value.held?.(call) === undefined) open?.over();
      return outcome;
    } catch (thrown) {
      open?.over();
      throw thrown;
    } finally {
      await opened.value.close();
    }
  } finally {
    // Its session can be continued, in the next attempt.
    if (isUntouched && isCutOff()) home.keep();
    else home.remove();
  }

  function turnBefore(of: LeftSession): NonNullable<TurnContext['before']> {
    if (forked !== undefined) return { entries: forked, left: 'kept', made: of.made, why: 'Its run was forked there.' };
    const before = { entries: turns.entries, left: home.isUntouched ? 'untouched' : 'undone' } as const;
    if (!isSame) return { ...before, why: `The turn was begun by ${of.agent.id} ${of.agent.version}.` };
    if (!canContinue(chosen)) return { ...before, why: `${row.title} does not continue sessions reliably.` };
    if (!home.isUntouched) return { ...before, why: 'What it had changed was undone.' };
    if (home.session !== of.id) return { ...before, why: 'It had not begun to work in its session.' };
    return { ...before, session: of, why: '' };
  }

  function isCutOff(): boolean {
    const said = end as TurnEnd | undefined;
    return said?.kind === 'blocked' || (said?.kind === 'failed' && said.error.code === 'canceled');
  }

  async function worked(tools: AgentTools): Promise<AgentOutcome> {
    if (turns.isPending) {
      const fate = (await tools.fateOf?.(call)) ?? 'undone';
      if (fate === 'committed' && turns.answer !== undefined)
        return ended({ status: 'succeeded', value: null, warnings: [] }, tools);
      if (fate === 'held') return settled(tools);
      if (assignment.resume === 'fail' && !turns.waits) return failed(resumeRefused(assignment));
    }
    const input = { agent: row.id };
    if (!turns.isPending)
      await keep({ v: 1, kind: 'tool_begun', call, tool: AGENT_TURN, input, external: false, approval: 'not-needed' });
    session.stream('tool_start', { call, tool: AGENT_TURN, input });
    const result = await tools.runner.execute({ id: call, name: AGENT_TURN, input }, { signal: session.signal });
    if (crash !== undefined) throw crash.cause;
    if (!result.ok) {
      const { message, suggestion } = result.error;
      return failed(taskFailure('deadline-passed', `${message}. ${suggestion}`));
    }
    return ended(result.value, tools);
  }

  async function ended(outcome: ToolOutcome, tools: AgentTools): Promise<AgentOutcome> {
    const said = end as TurnEnd | undefined;
    if (outcome.status === 'failed' && outcome.rollback.kind === 'held') return settled(tools);
    if (outcome.status === 'succeeded') {
      const output = said?.kind === 'answered' ? said.output : (turns.answer ?? null);
      await recorded('succeeded', { type: 'json', value: { answered: true } });
      return { kind: 'done', output };
    }
    if (session.signal.aborted || said?.kind === 'blocked') {
      // Its changes were dropped, and it is done again.
      session.stream('tool_end', { call, tool: AGENT_TURN, outcome: 'canceled' });
      if (said?.kind !== 'blocked') return failed(canceledFailure());
      await keep({ v: 1, kind: 'waiting', calls: [call] });
      return said;
    }
    const error = said?.kind === 'failed' ? said.error : notApplied(outcome, said);
    const words = outcome.status === 'failed' ? rollbackWords(outcome.rollback) : '';
    await recorded('failed', { type: 'error-text', value: `${error.message}${words}` });
    return failed(error);
  }

  async function recorded(status: 'succeeded' | 'failed', output: Json): Promise<void> {
    await keep({ v: 1, kind: 'tool_ended', call, tool: AGENT_TURN, status, output, ms: 0, approval: 'not-needed' });
    session.stream('tool_end', { call, tool: AGENT_TURN, outcome: status, ms: 0, approval: 'not-needed' });
  }

  /**
   * The turn's changes are held: because the plan wants to see or check them first, because git would run some of them, or because they
   * conflict with somebody else's.
   */
  async function settled(tools: AgentTools): Promise<AgentOutcome> {
    for (;;) {
      const stored = tools.held?.(call);
      if (stored === undefined) return failed(await gone('They are not there any more.'));
      const mayBeApplied = apply !== 'never' && apply !== 'hold';
      const now = mayBeApplied ? await tools.heldNow?.(call) : undefined;
      const held = now?.held ?? stored;
      const mustAsk = held.programs !== undefined || held.failed !== undefined;
      const isReview = (isHeld || mustAsk) && (apply === 'hold' || held.conflicts.length === 0);
      const diff = isReview ? ((await tools.heldDiff?.(call)) ?? '') : '';
      const check = isReview ? await checked(tools) : undefined;
      if (check === 'canceled') return failed(canceledFailure());
      const isUnfit = apply === 'auto' && check?.passed === false;
      if (isReview && (apply === 'never' || apply === 'hold' || isUnfit)) {
        await keep({ v: 1, kind: 'changes', call, applied: false, diff, ...(check && { check }) });
        if (apply !== 'hold') await tools.settle?.(call, 'drop', 'plan');
        if (check !== undefined && isUnfit) return failed(await dropped(checkFailed(check)));
        return ended({ status: 'succeeded', value: null, warnings: [] }, tools);
      }
      let choice: HeldChoice = 'apply-all';
      const isAsked = !isReview || apply === 'ask' || mustAsk;
      if (isAsked) {
        const overlaps = overlapWords(open?.found() ?? []);
        const shown = { title: row.title, diff, overlaps, ...(check && { check }) };
        const answer = await session.decide(isReview ? reviewQuestion(call, held, shown) : heldQuestion(call, held));
        if (answer === undefined) {
          await now?.keep();
          await keep({ v: 1, kind: 'waiting', calls: [call] });
          return { kind: 'blocked', reason: 'approval_required:choice' };
        }
        choice = heldChoiceOf(answer);
      }
      const outcome = await tools.settle?.(call, choice, isAsked ? 'person' : 'plan');
      if (outcome === undefined) continue;
      if (outcome.status === 'succeeded') return ended(outcome, tools);
      return failed(await gone(outcome.error.message));
    }
  }

  async function checked(tools: AgentTools): Promise<TurnCheck | undefined | 'canceled'> {
    const { check: command } = assignment;
    if (command === undefined) return undefined;
    const { signal, stream } = session;
    const transcript = await session.transcript();
    return (await checkTurn(tools, { call, command, signal, transcript, keep, stream })) ?? 'canceled';
  }

  async function dropped(error: TaskError): Promise<TaskError> {
    await recorded('failed', { type: 'error-text', value: error.message });
    return error;
  }

  function checkFailed({ command, says }: TurnCheck): TaskError {
    const message = `The changes of ${row.title} for node ${assignment.node} were dropped: the check ${JSON.stringify(cutAtWord(command, 200))} ${says}.`;
    return taskFailure('check-failed', message);
  }

  function gone(why: string): Promise<TaskError> {
    const message = `The changes of ${row.title} for node ${assignment.node} were dropped. ${why}`;
    return dropped(taskFailure('changes-dropped', message));
  }

  function notApplied(outcome: Exclude<ToolOutcome, { status: 'succeeded' }>, said: TurnEnd | undefined): TaskError {
    const what = said === undefined ? `${row.title} was not started` : `The changes of ${row.title} were not applied`;
    const code = said === undefined ? 'agent-not-started' : 'changes-not-applied';
    // Where the directory can have neither a layer nor a copy, a retry meets the same.
    const isFinal = said === undefined && outcome.error.retry.kind === 'not_retryable';
    const words = `${what}: ${outcome.error.message.replace(/\.$/, '')}. ${outcome.error.suggestion}`;
    return taskFailure(code, words, { class: isFinal ? 'terminal' : 'retryable' });
  }
}

function turnOf({ run, task, node, apply }: Assignment, title: string) {
  return { run, task, node, title, ...(apply !== undefined && { apply }) };
}

function lookOf({ directory, copy }: LayerEntry, root: string): Pick<TurnOnLayer, 'root' | 'written' | 'isChanged'> {
  if (copy !== undefined) return { root, written: copy.changed, isChanged: () => true };
  return {
    root,
    written: () => writtenPaths(directory, root),
    isChanged: path => isWritten(directory, root, path),
  };
}

function noLayer({ node, directory }: Assignment): TaskError {
  return taskFailure(
    'no-layer',
    `Node ${node} wants its changes checked before they are applied, and ${directory} cannot have layers here. Leave out the check, or see \`signalbox doctor\`.`,
  );
}

function costUnknown(assignment: Assignment, { row }: ChosenAgent): TaskError {
  return taskFailure(
    'agent-cost-unknown',
    `Node ${assignment.node} uses ${row.title}, which does not report its cost, in a run that limits cost. Use another agent, or limit tokens or time instead.`,
  );
}

function resumeRefused({ node }: Assignment): TaskError {
  const message = `Node ${node} was interrupted during its agent's turn, and its plan says not to continue by itself (resume="fail"). Nothing of it was applied. Look at its transcript, then retry it with resume="continue" or "restart".`;
  return taskFailure('resume-refused', message);
}

import { type ContentBlock, type McpServer, methods, RequestError } from '@agentclientprotocol/sdk';
import type { Json } from '@signalbox/model';
import {
  type AgentSession,
  type Assignment,
  type DecisionKind,
  HALT,
  type ModelName,
  type TaskError,
  type TurnOffer,
  unheardMessages,
} from '@signalbox/runs';
import type { LayerEntry, ToolContext } from '@signalbox/state';
import type { AnswerCheck } from '../attempt/answer-check.ts';
import type { Redactor } from '../attempt/redaction.ts';
import { canceledFailure, taskFailure } from '../attempt/task-failure.ts';
import { createAgentFiles } from './agent-files.ts';
import { prepareHome } from './agent-home.ts';
import type { AcpPorts, CallRefusal, ChosenAgent } from './agent-process.ts';
import { agentRequests } from './agent-requests.ts';
import { createAgentTerminals } from './agent-terminals.ts';
import { openWire } from './agent-wire.ts';
import { createCallNames } from './call-names.ts';
import { createElicitations } from './elicitation.ts';
import { followCalls } from './followed-calls.ts';
import { layerTraces } from './layer-traces.ts';
import type { LeftSession } from './left-session.ts';
import { type OpenTurn, overlapWords } from './open-turns.ts';
import { createPermissionDesk } from './permission-desk.ts';
import type { AgentRow } from './register.ts';
import { initialize, type OpenedSession, openSession } from './session-opening.ts';
import { createSessionWatch } from './session-watch.ts';
import { createTurnBook } from './turn-book.ts';
import { answeredError, exitedEarly, silent, unexplained } from './turn-failures.ts';
import { continuation, firstPrompt, type LeftChanges, retelling } from './turn-prompt.ts';
import { promptUntilAnswered } from './turn-prompts.ts';
import { createTurnQuestions, REQUEST_DECISION } from './turn-questions.ts';
import { retold } from './turn-retelling.ts';
import { createTurnSpending } from './turn-spending.ts';

export type TurnEnd =
  | { readonly kind: 'answered'; readonly output: Json }
  | { readonly kind: 'failed'; readonly error: TaskError }
  | { readonly kind: 'blocked'; readonly reason: string };

export interface TurnContext {
  readonly ports: AcpPorts;
  readonly assignment: Assignment;
  readonly session: AgentSession;
  readonly chosen: ChosenAgent;
  readonly home: string;
  /** The agent works on its prompt in this session, and all about it so far is kept. */
  took(session: string): void;
  /** Checks the answer, if it is data. */
  readonly check?: AnswerCheck;
  readonly redact: Redactor;
  /** Tells of other turns that change the same paths. */
  opened?(place: TurnPlace): OpenTurn | undefined;
  /** The turn was cut off before. */
  readonly before?: {
    readonly entries: readonly Json[];
    /** Its session, if it may be continued: nothing that the agent had changed was dropped. */
    readonly session?: LeftSession;
    /** The state of its changes. */
    readonly left: LeftChanges;
    /** Names of calls that were made and are in place. */
    readonly made?: readonly string[];
    /** Why its session is not continued, if it is not. */
    readonly why: string;
  };
}

/** Where the turn happens: the context of its call. */
export type TurnPlace = Pick<ToolContext, 'refused' | 'layer' | 'inner' | 'signal'> & { readonly root: string };

const PARK_MS = 600_000;
const SILENCE_MS = 1_800_000;
/** How long an agent may take until it can be prompted. */
const START_MS = 120_000;
/** How long an agent may take to end its turn once a call was refused for good. */
const REFUSED_MS = 3_000;
const PRICE_ADVICE = 'Give the price of the model, use another one, or limit tokens instead.';
/** How long a canceled agent may take to end its turn by itself. A canceled call waits for 2 s. */
const CANCEL_MS = 1_000;

/**
 * One turn of an agent: one process, one session, as many prompts as it takes to get an answer.
 *
 * 1. It ends once, for the first reason there is: an answer, a failure, a person who is waited for, a cancellation.
 * 2. When it returns, nothing of the agent runs any more, and everything that it told is kept.
 * 3. An answer counts only if nothing was changed without the question that it needed.
 * 4. `isUntouched` only if it is certain that nothing was changed.
 */
export async function runTurn(
  context: TurnContext,
  place: TurnPlace,
): Promise<{ readonly end: TurnEnd; readonly isUntouched: boolean }> {
  const { ports, assignment, session, chosen, redact } = context;
  const { row, installed } = chosen;
  const { layer, refused } = place;
  /** On a copy, the agent works at the copy's path. */
  const root = layer?.copy?.at ?? place.root;
  const mounted = layer?.copy === undefined ? layer : undefined;
  const variables = prepareHome(chosen, { home: context.home, root });
  const started = ports.start({
    ...{ row, installed, root, refused, configHome: context.home, variables },
    ...(mounted && { layer: mounted }),
  });
  if (!started.ok) return { end: { kind: 'failed', error: started.error }, isUntouched: false };
  const process = started.value;
  const now = () => ports.clock.now();
  const { meter } = chosen;
  const over = once<TurnEnd>(end => refusedEnd(meter?.refusal(), end));
  const fail = (error: TaskError) => over.resolve({ kind: 'failed', error });
  const { parkMs = PARK_MS, silenceMs = SILENCE_MS, mac } = ports;

  const open = context.opened?.(place);
  const lookAround = () => {
    for (const words of overlapWords(open?.look() ?? [])) book.note(words);
  };
  const names = createCallNames(assignment.task);
  const book = createTurnBook({
    ...{ assignment, row, names, mac, session, redact, now },
    ...{ violated: fail, lost: over.reject, changed: lookAround, took: context.took },
    followed: place.inner === undefined ? undefined : followCalls(place.inner),
  });
  const model: ModelName = { provider: row.id, model: assignment.model ?? 'default' };
  const prefix = `acp/${ports.ids.mint()}`;
  const counts = { isMetered: meter !== undefined, toolCalls: book.toolCalls };
  const spending = createTurnSpending({ session, model, prefix, now, ...counts });
  const questions = createTurnQuestions({
    ...{ names, mac, row, session, redact, parkMs },
    ...{ keep: book.keepOfPrompt, lost: over.reject },
  });
  let isReady = false;
  let isPrompting = false;
  let offer: TurnOffer | undefined;
  let isToldUnlisted = false;

  let unwatch = () => {};
  const heard = () => {
    unwatch();
    if (over.isSettled()) return;
    const ms = isReady ? silenceMs : START_MS;
    unwatch = ports.timers.after(ms, () => {
      if (asking() !== undefined) heard();
      else fail(silent(row, isReady, ms));
    });
  };
  const watch = createSessionWatch({
    ...{ row, book, heard, failed: fail, isOver: over.isSettled },
    vendor: (what, update) => session.vendor?.(what, redact.data(update)),
    costs: cost => (spending.costs(cost) ? recordCost().catch(over.reject) : undefined),
  });
  const desk = createPermissionDesk({
    ...{ assignment, row, installed, session, book, redact, parkMs, mac },
    vendorSession: watch.id,
    parked: kind => over.resolve(waiting(kind)),
    isOver: over.isSettled,
  });
  const elicitations = createElicitations({
    ...{ row, session, names, mac, redact, parkMs, keep: book.keepOfPrompt, note: book.note },
    parked: kind => over.resolve(waiting(kind)),
    isOver: over.isSettled,
  });
  const runCommand = ports.terminal?.();
  const terminals =
    runCommand &&
    createAgentTerminals(root, (command, env) =>
      runCommand({ root, refused, command, env, ...(mounted && { layer: mounted }) }),
    );
  /** The kind of a question that a person has not answered yet. */
  const asking = () => desk.open() ?? elicitations.open() ?? questions.open();
  // A copy is in our own directory, which is refused otherwise.
  const closed = refused.filter(one => !isWithin(root, one));
  const files = createAgentFiles({ root, refused: closed, view: () => process.view() });
  const requests = { watch, desk, files, terminals, elicitations, book, heard, lost: over.reject };
  const connection = agentRequests(requests).connect(openWire(process, row.title, watch.listener));
  const { agent } = connection;

  let giveUp = () => {};
  const cancel = () => {
    const stop = () => fail(canceledFailure());
    const sessionId = watch.id();
    if (!isPrompting || sessionId === undefined || place.signal.reason === HALT) return stop();
    agent.notify(methods.agent.session.cancel, { sessionId }).catch(stop);
    giveUp = ports.timers.after(CANCEL_MS, stop);
  };
  place.signal.addEventListener('abort', cancel, { once: true });
  let stopWaiting = () => {};
  void meter?.refused.then(() => {
    if (!over.isSettled()) stopWaiting = ports.timers.after(REFUSED_MS, () => fail(canceledFailure()));
  });
  // All that it said is known once its output has ended.
  Promise.all([process.ended, connection.closed]).then(([{ reason }]) => over.resolve(exited(reason)), over.reject);
  heard();
  conversation().then(over.resolve, thrown => {
    if (thrown instanceof RequestError) fail(answeredError(row, thrown));
    // Its output has ended: so does the agent, and then it is known why.
    else if (connection.signal.aborted) process.kill();
    else over.reject(thrown);
  });
  if (place.signal.aborted) cancel();
  let end: TurnEnd;
  try {
    end = await over.promise;
  } finally {
    unwatch();
    giveUp();
    stopWaiting();
    place.signal.removeEventListener('abort', cancel);
    book.closed();
    connection.close();
    await terminals?.close();
    process.kill();
    await process.ended.catch(() => undefined);
    await offer?.withdraw();
    await book.settled();
  }
  if (layer === undefined) return { end, isUntouched: false };
  const mayBeViolation = end.kind === 'answered' && assignment.permissions === 'gated' && !book.mayHaveChanged();
  if (end.kind === 'answered' && !mayBeViolation) return { end, isUntouched: false };
  const traces = layer.copy?.changed() ?? layerTraces(layer.directory, place.root);
  if (mayBeViolation && traces.length > 0)
    return { end: { kind: 'failed', error: unexplained(row, traces) }, isUntouched: false };
  return { end, isUntouched: traces.length === 0 };

  async function conversation(): Promise<TurnEnd> {
    const canUseFiles = row.files === 'client' && globalThis.process.platform === 'linux';
    const about = await initialize(agent, chosen, {
      fs: { readTextFile: canUseFiles, writeTextFile: canUseFiles },
      terminal: terminals !== undefined,
      elicitation: { form: {} },
    });
    if (!about.ok) return { kind: 'failed', error: about.error };
    const canAsk = about.value.agentCapabilities?.mcpCapabilities?.http === true;
    if (canAsk) offer = await ports.turns?.offer(questions.tools);
    if (ports.turns !== undefined && !canAsk) book.note(`${row.title} cannot be offered ${REQUEST_DECISION}.`);
    const mcpServers = offer === undefined ? [] : [turnServer(offer)];
    const before = context.before?.session;
    const opening = { chosen, root, mcpServers, model: assignment.model, watch };
    const opened = await openSession(agent, about.value, before, opening);
    if (!opened.ok) return { kind: 'failed', error: opened.error };
    isReady = true;
    heard();
    const { id, title } = row;
    book.keep({
      ...{ v: 1, kind: 'begun', model: `${title} ${installed.version}`, priceKnown: row.reports.cost },
      agent: { id, title, version: installed.version, from: installed.from },
      ...{ session: opened.value.id, opened: opened.value.opened, asking: row.asking, onLayer: mounted !== undefined },
      ...(layer?.copy && { onCopy: true }),
    });
    if (layer?.copy !== undefined) book.note(onCopyWords(row, place.root, layer.copy));
    const told = opened.value.opened === 'new' && context.before ? retold(context.before.entries) : '';
    const said = openedWords(row, opened.value, told === '' ? undefined : context.before);
    if (said !== undefined) book.note(said);
    const left = opened.value.opened === 'new' ? undefined : before;
    if (left !== undefined) takeUp(left);
    else names.take(context.before?.made ?? []);
    const words = await questions.answers();
    if (words === undefined) return waiting(questions.open() ?? 'choice');
    const blocks = left === undefined ? fullPrompt(told) : continuation([...desk.takeWords(false), ...words]);
    return promptUntilAnswered(
      { blocks, isFull: left === undefined, ...(left && { left }) },
      {
        ...{ assignment, row, agent, sessionId: opened.value.id, signal: place.signal, check: context.check },
        ...{ book, desk, questions, spending },
        /** False if the turn is over. */
        async mayPrompt() {
          await checkLimits();
          isPrompting = !over.isSettled();
          return isPrompting;
        },
        unheard: async () => unheardMessages(await session.transcript()),
        answered() {
          isPrompting = false;
          lookAround();
          if (offer?.wasListed() === false && !isToldUnlisted) book.note(unlisted(row));
          isToldUnlisted = true;
        },
      },
    ).then(end => end ?? over.promise);
  }

  /** Everything that our side knew of the session when it was cut off. */
  function takeUp(left: LeftSession): void {
    names.take(left.made);
    book.continued(left.always);
    desk.continued(left);
    questions.continued(left.questions);
    spending.continued(left.costMicroUsd);
  }

  function fullPrompt(told: string): readonly ContentBlock[] {
    const more = told === '' ? [] : retelling(told, context.before?.left ?? 'undone');
    return [...firstPrompt(assignment), ...more];
  }

  async function recordCost(): Promise<void> {
    await spending.recordCost();
    book.keep({ v: 1, kind: 'cost', costMicroUsd: spending.recorded() });
    await checkLimits();
  }

  /** Ends the turn if a limit of the run is reached. The agent's own calls take no place: they are not made here. */
  async function checkLimits(): Promise<void> {
    const admission = await session.admit(model);
    if (admission.kind === 'go') return admission.release();
    const { reason, waits } = admission;
    if (waits !== undefined) over.resolve({ kind: 'blocked', reason: waits });
    else if (session.signal.aborted) fail(canceledFailure());
    else fail(taskFailure('budget-exceeded', `${reason} Raise the limit of the run to continue.`));
  }

  /** An agent that dies with a question open is started again when the question is answered. */
  function exited(reason: string): TurnEnd {
    const kind = asking();
    return kind === undefined ? { kind: 'failed', error: exitedEarly(row, reason, process) } : waiting(kind);
  }
}

/** A call that was refused at a limit ends the turn, whatever the agent makes of it. */
function refusedEnd(refusal: CallRefusal | undefined, end: TurnEnd): TurnEnd {
  if (refusal === undefined) return end;
  const { code, reason, waits } = refusal;
  if (waits !== undefined) return { kind: 'blocked', reason: waits };
  const advice = code === 'budget-exceeded' ? 'Raise the limit of the run to continue.' : PRICE_ADVICE;
  return { kind: 'failed', error: taskFailure(code, `${reason} ${advice}`) };
}

/** A value that is set once: the first one counts, as `seen` makes of it. */
function once<T>(seen: (value: T) => T) {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let settled = false;
  const first =
    <A>(settle: (given: A) => void) =>
    (given: A) => {
      if (settled) return;
      settled = true;
      settle(given);
    };
  return {
    promise,
    resolve: first<T>(value => resolve(seen(value))),
    reject: first(reject),
    isSettled: () => settled,
  };
}

function waiting(kind: DecisionKind): TurnEnd {
  return { kind: 'blocked', reason: `approval_required:${kind}` };
}

/** A note for the log about an agent that works on a copy. */
function onCopyWords(
  { title }: AgentRow,
  root: string,
  { at, why, isCloned }: NonNullable<LayerEntry['copy']>,
): string {
  const how = isCloned ? 'a copy that shares its contents with it' : 'a copy';
  return `${title} works on ${how}, at ${at}: ${why}. Its changes are applied to ${root} as from a layer, but its calls are not told apart.`;
}

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(`${ancestor}/`);
}

/** A note for the log about an agent that has worked on a prompt without knowing the tools of its turn. */
function unlisted({ title, offering }: AgentRow): string {
  const how = offering === undefined ? '' : ` ${offering}`;
  return `${title} was offered ${REQUEST_DECISION}, but did not ask for the tools of its turn: its model cannot ask a person.${how}`;
}

/** How an agent connects to the tools of its turn. */
function turnServer({ url, token }: TurnOffer): McpServer {
  const headers = [{ name: 'authorization', value: `Bearer ${token}` }];
  return { type: 'http', name: 'signalbox', url, headers };
}

/** A note for the log about the session; undefined for one that was opened as usual. */
function openedWords({ title }: AgentRow, { id, opened, why }: OpenedSession, before: TurnContext['before']) {
  switch (opened) {
    case 'resumed':
      return `${title} continues its session ${id} (session/resume).`;
    case 'loaded':
      return `${title} continues its session ${id} (session/load).`;
    case 'new':
      if (before === undefined) return undefined;
      return `${title} begins a new session, and is told how far the turn came. ${why ?? before.why}`;
  }
}

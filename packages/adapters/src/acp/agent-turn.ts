import { client, type McpServer, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { cutAtWord, type Json } from '@signalbox/model';
import type { AgentSession, Assignment, DecisionKind, ModelName, TaskError, TurnOffer } from '@signalbox/runs';
import type { ToolContext } from '@signalbox/state';
import { type AnswerCheck, MAX_CORRECTIONS } from '../attempt/answer-check.ts';
import { plainData } from '../attempt/plain-data.ts';
import type { Redactor } from '../attempt/redaction.ts';
import { canceledFailure, taskFailure } from '../attempt/task-failure.ts';
import { createAgentFiles, type FileAccess, linesOf } from './agent-files.ts';
import { prepareHome } from './agent-home.ts';
import type { AcpPorts, AgentProcess, ChosenAgent } from './agent-process.ts';
import { openWire, type WireListener } from './agent-wire.ts';
import { leftAsking, setAskingMode } from './asking-mode.ts';
import { layerTraces } from './layer-traces.ts';
import { chooseModel } from './model-option.ts';
import { createPermissionDesk } from './permission-desk.ts';
import { IDLE_UPDATES, promptUsage, sessionUpdate } from './session-update.ts';
import { createTurnBook } from './turn-book.ts';
import { answerWithin, correction, firstPrompt, textOf, toldDecisions } from './turn-prompt.ts';
import { createTurnQuestions, REQUEST_DECISION } from './turn-questions.ts';
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
  /** Checks the answer, if it is data. */
  readonly check?: AnswerCheck;
  readonly redact: Redactor;
}

/** Where the turn happens: the context of its call. */
export type TurnPlace = Pick<ToolContext, 'refused' | 'layer' | 'signal'> & { readonly root: string };

const PARK_MS = 600_000;
const SILENCE_MS = 1_800_000;
/** How long an agent may take until it can be prompted. */
const START_MS = 120_000;
/** How long a canceled agent may take to end its turn by itself. A canceled call waits for 2 s. */
const CANCEL_MS = 1_000;

/**
 * One turn of an agent: one process, one session, as many prompts as it takes to get an answer.
 *
 * 1. It ends once, for the first reason there is: an answer, a failure, a person who is waited for, a cancellation.
 * 2. When it returns, nothing of the agent runs any more, and everything that it told is kept.
 * 3. An answer counts only if nothing was changed without the question that it needed.
 */
export async function runTurn(context: TurnContext, place: TurnPlace): Promise<TurnEnd> {
  const { ports, assignment, session, chosen, redact } = context;
  const { row, installed } = chosen;
  const { root, refused, layer } = place;
  const variables = prepareHome(chosen, { home: context.home, root });
  const started = ports.start({
    ...{ row, installed, root, refused, configHome: context.home, variables },
    ...(layer && { layer }),
  });
  if (!started.ok) return { kind: 'failed', error: started.error };
  const process = started.value;
  const now = () => ports.clock.now();
  const over = once<TurnEnd>();
  const fail = (error: TaskError) => over.resolve({ kind: 'failed', error });

  const book = createTurnBook({ assignment, row, session, redact, now, violated: fail, lost: over.reject });
  const model: ModelName = { provider: row.id, model: assignment.model ?? 'default' };
  const prefix = `acp/${ports.ids.mint()}`;
  const spending = createTurnSpending({ session, model, prefix, now, toolCalls: book.toolCalls });
  let vendorSession: string | undefined;
  let reportedMode: string | undefined;
  let isAsking = false;
  let isReady = false;
  let isPrompting = false;

  const { parkMs = PARK_MS } = ports;
  const questions = createTurnQuestions({ assignment, row, session, redact, parkMs, lost: over.reject });
  let offer: TurnOffer | undefined;
  const desk = createPermissionDesk({
    ...{ assignment, row, installed, session, book, redact, parkMs },
    vendorSession: () => vendorSession,
    parked: kind => over.resolve(waiting(kind)),
    isOver: over.isSettled,
  });
  const files = createAgentFiles({ root, refused, view: () => process.view() });

  /** The kind of a question that a person has not answered yet. */
  const asking = () => desk.open() ?? questions.open();

  let unwatch = () => {};
  const watch = () => {
    unwatch();
    if (over.isSettled()) return;
    unwatch = ports.timers.after(isReady ? (ports.silenceMs ?? SILENCE_MS) : START_MS, () => {
      if (asking() !== undefined) watch();
      else fail(silent(context, isReady));
    });
  };

  const listener: WireListener = {
    updated(params) {
      watch();
      const { sessionId, update } = (params ?? {}) as { readonly sessionId?: unknown; readonly update?: unknown };
      if (vendorSession === undefined || over.isSettled()) return undefined;
      if (sessionId !== vendorSession) {
        book.note('The agent sent an update of a session that is not its own. It was ignored.');
        return undefined;
      }
      const read = sessionUpdate.safeParse(update);
      if (!read.success) {
        const what = String((update as { readonly sessionUpdate?: unknown } | undefined)?.sessionUpdate);
        if (!IDLE_UPDATES.has(what)) book.note(`The agent sent an update that is not understood: ${what}.`);
        return undefined;
      }
      if (read.data.sessionUpdate === 'current_mode_update') reportedMode = read.data.currentModeId;
      const left = isAsking ? leftAsking(row, read.data) : undefined;
      if (left !== undefined) {
        fail(left);
        return undefined;
      }
      book.updated(read.data);
      const cost = read.data.sessionUpdate === 'usage_update' ? read.data.cost : undefined;
      if (cost != null && spending.costs(cost)) return spending.recordCost().then(checkLimits).catch(over.reject);
      return book.room();
    },
    opened(answer) {
      const { sessionId } = (answer ?? {}) as { readonly sessionId?: unknown };
      if (typeof sessionId !== 'string') return;
      vendorSession = sessionId;
      book.opened(sessionId);
    },
    ignored: what => book.note(`The agent sent ${what}. It was ignored.`),
    broke: fail,
  };

  const connection = client({ name: 'signalbox' })
    .onRequest(methods.client.session.requestPermission, answering(desk.requested))
    .onRequest(
      methods.client.fs.readTextFile,
      answering(async ({ path, line, limit, sessionId }) => {
        checkSession(sessionId);
        return { content: linesOf(reached(path, files.read(path)), line, limit) };
      }),
    )
    .onRequest(
      methods.client.fs.writeTextFile,
      answering(async ({ path, content, sessionId }) => {
        checkSession(sessionId);
        // Nobody is asked about a write that cannot be made.
        const looked = files.look(path);
        if (looked.kind === 'refused') reached(path, looked);
        const done = await desk.mayWrite(path, content);
        if (done === undefined) throw RequestError.invalidRequest(undefined, 'a person did not allow this write');
        const access = files.write(path, content);
        done(access.kind === 'done');
        reached(path, access);
        return {};
      }),
    )
    .connect(openWire(process, row.title, listener));
  const { agent } = connection;

  let giveUp = () => {};
  const cancel = () => {
    const stopped = () => fail(canceledFailure());
    if (!isPrompting || vendorSession === undefined) return stopped();
    agent.notify(methods.agent.session.cancel, { sessionId: vendorSession }).catch(stopped);
    giveUp = ports.timers.after(CANCEL_MS, stopped);
  };
  place.signal.addEventListener('abort', cancel, { once: true });
  // All that it said is known once its output has ended.
  Promise.all([process.ended, connection.closed]).then(([{ reason }]) => over.resolve(exited(reason)), over.reject);
  watch();
  conversation().then(over.resolve, thrown => {
    if (thrown instanceof RequestError) fail(answeredError(context, thrown));
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
    place.signal.removeEventListener('abort', cancel);
    book.closed();
    connection.close();
    process.kill();
    await process.ended.catch(() => undefined);
    await offer?.withdraw();
    await book.settled();
  }
  if (end.kind !== 'answered' || layer === undefined || assignment.permissions !== 'gated' || book.mayHaveChanged())
    return end;
  const traces = layerTraces(layer.directory, root);
  return traces.length === 0 ? end : { kind: 'failed', error: unexplained(context, traces) };

  async function conversation(): Promise<TurnEnd> {
    const canUseFiles = row.files === 'client' && globalThis.process.platform === 'linux';
    const about = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: canUseFiles, writeTextFile: canUseFiles }, terminal: false },
      clientInfo: { name: 'signalbox', version: '0.1.0' },
    });
    if (about.protocolVersion !== PROTOCOL_VERSION) {
      const message = `${row.title} ${installed.version} speaks version ${about.protocolVersion} of ACP, not ${PROTOCOL_VERSION}. Use the version that \`signalbox agents\` names.`;
      return { kind: 'failed', error: taskFailure('agent-not-started', message) };
    }
    if (row.authenticate !== undefined) await agent.request(methods.agent.authenticate, { methodId: row.authenticate });
    const canAsk = about.agentCapabilities?.mcpCapabilities?.http === true;
    if (canAsk) offer = await ports.turns?.offer(questions.tools);
    if (ports.turns !== undefined && !canAsk) book.note(`${row.title} cannot be offered ${REQUEST_DECISION}.`);
    const mcpServers = offer === undefined ? [] : [turnServer(offer)];
    const opened = await agent.request(methods.agent.session.new, { cwd: root, mcpServers });
    const notAsking = await setAskingMode(agent, row, opened, { mode: () => reportedMode });
    if (notAsking !== undefined) return { kind: 'failed', error: notAsking };
    isAsking = true;
    // It may have been left before anybody watched.
    const left = leftAsking(row, { sessionUpdate: 'current_mode_update', currentModeId: reportedMode ?? '' });
    if (reportedMode !== undefined && left !== undefined) return { kind: 'failed', error: left };
    const noModel = await chooseModel(agent, row, opened, assignment.model);
    if (noModel !== undefined) return { kind: 'failed', error: noModel };
    isReady = true;
    watch();
    const { id, title } = row;
    book.keep({
      ...{ v: 1, kind: 'begun', model: `${title} ${installed.version}`, priceKnown: row.reports.cost },
      agent: { id, title, version: installed.version, from: installed.from },
      ...{ session: opened.sessionId, asking: row.asking, onLayer: layer !== undefined },
    });
    return prompts(opened.sessionId);
  }

  async function prompts(sessionId: string): Promise<TurnEnd> {
    let blocks = firstPrompt(assignment);
    let corrections = 0;
    let tokens = 0;
    for (let number = 1; ; number++) {
      await checkLimits();
      if (over.isSettled()) return over.promise;
      book.prompted(
        number,
        plainData({ v: 1, kind: 'prompted', prompt: number, session: sessionId, text: textOf(blocks), blocks }),
      );
      await book.settled();
      isPrompting = true;
      const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [...blocks] });
      isPrompting = false;
      const usage = promptUsage.safeParse((answer as { readonly usage?: unknown }).usage);
      tokens += (usage.data?.inputTokens ?? 0) + (usage.data?.outputTokens ?? 0);
      const spent = await spending.prompted(usage.data);
      const text = book.answered(spent);
      await book.settled();
      if (place.signal.aborted) return { kind: 'failed', error: canceledFailure() };
      const isOverNow = answer.stopReason === 'end_turn';
      const wasStopped = !isOverNow && book.wasDenied() && ['cancelled', 'refusal'].includes(answer.stopReason);
      if (!isOverNow && !wasStopped) return { kind: 'failed', error: stopped(context, answer.stopReason, text) };
      const answers = await questions.answers();
      if (answers === undefined) return waiting(questions.open() ?? 'choice');
      const words = [...desk.takeWords(wasStopped), ...answers];
      const hasTokens = assignment.maxTokens === undefined || tokens < assignment.maxTokens;
      const mayGoOn = number < assignment.maxTurns && hasTokens;
      if (words.length > 0 && mayGoOn) {
        blocks = toldDecisions(words);
        continue;
      }
      if (context.check === undefined) return { kind: 'answered', output: text };
      const checked = answerWithin(text, context.check);
      if (checked.ok) return { kind: 'answered', output: checked.value };
      if (corrections++ >= MAX_CORRECTIONS) return { kind: 'failed', error: unfitting(assignment, checked.error) };
      if (!mayGoOn) return { kind: 'failed', error: exhausted(assignment, hasTokens, text) };
      blocks = correction(checked.error);
      book.keep({ v: 1, kind: 'correction', text: textOf(blocks) });
    }
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

  /** Answers a request of the agent. What goes wrong on our side ends the turn: the agent would only see an error. */
  function answering<P, R>(answer: (params: P) => Promise<R>): (request: { readonly params: P }) => Promise<R> {
    return async ({ params }) => {
      watch();
      try {
        return await answer(params);
      } catch (thrown) {
        if (!(thrown instanceof RequestError)) over.reject(thrown);
        throw thrown;
      }
    };
  }

  function checkSession(id: string): void {
    if (id === vendorSession) return;
    book.note('The agent asked for a file in a session that is not its own. It was refused.');
    throw RequestError.sessionNotFound(id);
  }

  /** An agent that dies with a question open is started again when the question is answered. */
  function exited(reason: string): TurnEnd {
    const kind = asking();
    if (kind !== undefined) return waiting(kind);
    const message = `${row.title} ended before its turn did: it ${reason}.${lastWords(process)}`;
    return { kind: 'failed', error: taskFailure('agent-exited', message, { class: 'retryable' }) };
  }
}

/** A value that is set once: the first one counts. */
function once<T>() {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let settled = false;
  const first =
    <A>(settle: (given: A) => void) =>
    (given: A) => {
      if (settled) return;
      settled = true;
      settle(given);
    };
  return { promise, resolve: first(resolve), reject: first(reject), isSettled: () => settled };
}

function waiting(kind: DecisionKind): TurnEnd {
  return { kind: 'blocked', reason: `approval_required:${kind}` };
}

/** How an agent connects to the tools of its turn. */
function turnServer({ url, token }: TurnOffer): McpServer {
  const headers = [{ name: 'authorization', value: `Bearer ${token}` }];
  return { type: 'http', name: 'signalbox', url, headers };
}

function reached(path: string, access: FileAccess): string {
  switch (access.kind) {
    case 'done':
      return access.content;
    case 'missing':
      throw RequestError.resourceNotFound(path);
    case 'refused':
      throw RequestError.invalidParams({ path }, access.reason);
  }
}

function lastWords(process: AgentProcess): string {
  const tail = process.stderrTail().trim();
  return tail === '' ? '' : ` Its last errors:\n${tail.slice(-2_000)}`;
}

function silent({ chosen, ports }: TurnContext, isReady: boolean): TaskError {
  const ms = isReady ? (ports.silenceMs ?? SILENCE_MS) : START_MS;
  const what = isReady ? 'said nothing' : 'was not ready';
  return taskFailure('agent-silent', `${chosen.row.title} ${what} for ${ms} ms and was ended.`, { class: 'retryable' });
}

function answeredError({ chosen: { row } }: TurnContext, { code, message, data }: RequestError): TaskError {
  const more = data === undefined ? '' : ` ${cutAtWord(JSON.stringify(data), 1_000)}`;
  if (code === -32000) {
    const hint = `Set one of ${row.variables.join(', ') || 'its variables'}, or log in to it.`;
    return taskFailure('key-missing', `${row.title} needs a login: ${message}.${more} ${hint}`);
  }
  return taskFailure('agent-failed', `${row.title} answered with an error: ${message}.${more}`, { class: 'retryable' });
}

function stopped({ chosen: { row }, assignment }: TurnContext, reason: string, text: string): TaskError {
  const said = text === '' ? '' : ` It last said: ${JSON.stringify(text.slice(0, 500))}`;
  switch (reason) {
    case 'max_tokens':
      return taskFailure('answer-truncated', `The answer of ${row.title} is longer than its model can give.${said}`);
    case 'max_turn_requests':
      return taskFailure(
        'turns-exhausted',
        `${row.title} took all requests that it may make for node ${assignment.node}.${said}`,
      );
    case 'refusal':
      return taskFailure('agent-refused', `${row.title} refused to answer. Change the prompt.${said}`);
    default:
      return taskFailure('agent-failed', `${row.title} stopped its turn: ${reason}.${said}`, { class: 'retryable' });
  }
}

function unexplained({ chosen: { row } }: TurnContext, paths: readonly string[]): TaskError {
  const shown = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '');
  return taskFailure(
    'agent-violation',
    `${row.title} changed ${shown} without asking. Nothing of it was applied. Check that its asking mode holds with \`signalbox agents doctor\`.`,
  );
}

function unfitting(assignment: Assignment, problem: string): TaskError {
  const count = MAX_CORRECTIONS + 1;
  return taskFailure(
    'output-invalid',
    `Node ${assignment.node} gave ${count} answers that do not fit its schema. The last: ${problem}`,
  );
}

function exhausted({ node, maxTurns, maxTokens }: Assignment, hasTokens: boolean, text: string): TaskError {
  const [code, took, limit] = hasTokens
    ? (['turns-exhausted', `took its ${maxTurns} turns`, 'maxTurns'] as const)
    : (['tokens-exhausted', `used its ${maxTokens} tokens`, 'maxTokens'] as const);
  const said = ` It last said: ${JSON.stringify(text.slice(0, 500))}`;
  return taskFailure(code, `Node ${node} ${took} without an answer that fits. Raise ${limit}, or ask for less.${said}`);
}

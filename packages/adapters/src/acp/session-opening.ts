import {
  type ClientCapabilities,
  type ClientContext,
  type InitializeResponse,
  type McpServer,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';
import { cutAtWord, err, ok, type Result } from '@signalbox/model';
import type { TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import type { ChosenAgent } from './agent-process.ts';
import { setAskingMode } from './asking-mode.ts';
import type { LeftSession } from './left-session.ts';
import { chooseModel } from './model-option.ts';
import type { SessionWatch } from './session-watch.ts';

export interface OpenedSession {
  readonly id: string;
  readonly opened: 'new' | 'resumed' | 'loaded';
  /** Why an earlier session is not continued. */
  readonly why?: string;
}

/** Agrees on the protocol, and logs in if the row says so. */
export async function initialize(
  agent: ClientContext,
  { row, installed }: ChosenAgent,
  clientCapabilities: ClientCapabilities,
): Promise<Result<InitializeResponse, TaskError>> {
  const about = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities,
    clientInfo: { name: 'signalbox', version: '0.1.0' },
  });
  if (about.protocolVersion !== PROTOCOL_VERSION) {
    const message = `${row.title} ${installed.version} speaks version ${about.protocolVersion} of ACP, not ${PROTOCOL_VERSION}. Use the version that \`signalbox agents\` names.`;
    return err(taskFailure('agent-not-started', message));
  }
  if (row.authenticate !== undefined) await agent.request(methods.agent.authenticate, { methodId: row.authenticate });
  return ok(about);
}

export interface OpeningContext {
  readonly chosen: ChosenAgent;
  readonly root: string;
  readonly mcpServers: McpServer[];
  readonly model: string | undefined;
  readonly watch: SessionWatch;
}

/**
 * Opens a session in which the agent asks: an earlier one where that works, otherwise a new one. An earlier session is resumed if the
 * agent says that it can, and loaded otherwise; which of them are tried is in its row.
 */
export async function openSession(
  agent: ClientContext,
  about: InitializeResponse,
  left: LeftSession | undefined,
  context: OpeningContext,
): Promise<Result<OpenedSession, TaskError>> {
  const { chosen, root, mcpServers, watch } = context;
  let why: string | undefined;
  if (left !== undefined) {
    const again = await openedAgain(agent, about, left, context);
    if (again.ok) return again;
    watch.gaveUp();
    why = again.error;
  }
  const session = await agent.request(methods.agent.session.new, { cwd: root, mcpServers });
  const notReady = await madeReady(agent, session, context);
  if (notReady !== undefined) return err(notReady);
  const gone = watch.asks();
  if (gone !== undefined) return err(gone);
  return ok({ id: session.sessionId, opened: 'new', ...(why !== undefined && { why: `${chosen.row.title} ${why}` }) });
}

/** Whether an agent can be given an earlier session at all. */
export function canContinue({ row }: Pick<ChosenAgent, 'row'>): boolean {
  return row.continues === undefined || row.continues.length > 0;
}

async function openedAgain(
  agent: ClientContext,
  about: InitializeResponse,
  { id }: LeftSession,
  context: OpeningContext,
): Promise<Result<OpenedSession, string>> {
  const { root: cwd, mcpServers, watch } = context;
  const { continues = ['resume', 'load'] } = context.chosen.row;
  const { loadSession, sessionCapabilities } = about.agentCapabilities ?? {};
  const canResume = continues.includes('resume') && sessionCapabilities?.resume != null;
  if (!canResume && !(continues.includes('load') && loadSession === true)) return err('cannot continue sessions.');
  const params = { sessionId: id, cwd, mcpServers };
  try {
    watch.reopening(id);
    const answer = canResume
      ? await agent.request(methods.agent.session.resume, params)
      : await agent.request(methods.agent.session.load, params);
    const notReady = await madeReady(agent, { ...(answer ?? {}), sessionId: id }, context);
    if (notReady !== undefined) return err(`continued its session, but cannot be used in it. ${notReady.message}`);
  } catch (thrown) {
    if (!(thrown instanceof RequestError)) throw thrown;
    return err(`could not ${canResume ? 'resume' : 'load'} its session: ${cutAtWord(thrown.message, 500)}.`);
  }
  const left = watch.asks();
  return left === undefined ? ok({ id, opened: canResume ? 'resumed' : 'loaded' }) : err(left.message);
}

/** Sets the asking mode and the model. Returns why the session cannot be used. */
async function madeReady(
  agent: ClientContext,
  session: NewSessionResponse,
  { chosen, model, watch }: OpeningContext,
): Promise<TaskError | undefined> {
  return (
    (await setAskingMode(agent, chosen.row, session, { mode: watch.mode })) ??
    (await chooseModel(agent, chosen.row, session, model))
  );
}

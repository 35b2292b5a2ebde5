import type { guidedSchemas } from '@signalbox/app/guided';
import {
  type ClientMessage,
  type Needed,
  type OperationName,
  type Operations,
  operations,
  type UserRole,
} from '@signalbox/model';

/**
 * The role that every way into the server needs. Routes are rows of the table of operations; everything else is declared only here.
 *
 * T1  A route, tool, resource or message that is not in these tables does not exist: it does not compile, the server refuses to start with
 *     it, or it is answered as unknown.
 * T2  `viewer`, `approver`, `operator` and `owner` each may do everything that the ones before them may.
 * T3  `agent` is for agents alone. Agents raise decisions and cannot answer them, so that no token does both (R41).
 * T4  `no token` is for requests that come before a token.
 */
export type { Needed } from '@signalbox/model';

type RouteKey = Exclude<Operations[OperationName]['route'], `WS ${string}`>;

/** Every route of the table of operations. */
export const routeAccess = Object.fromEntries(
  Object.values(operations).flatMap(({ route, needs }) => (route.startsWith('WS ') ? [] : [[route, needs]])),
) as { readonly [Route in RouteKey]: Needed };

/** The tools at `/mcp`, and of `signalbox mcp --operator`. */
export const operatorToolAccess = {
  'execution.start': 'operator',
  'execution.pause': 'operator',
  'execution.resume': 'operator',
  'execution.stop': 'operator',
  'execution.terminate': 'operator',
  'execution.export': 'viewer',
  'execution.fork_from_frame': 'operator',
  'node.cancel': 'operator',
  'node.retry': 'operator',
  'node.rerun_from': 'operator',
  'state.set': 'operator',
  'state.update': 'operator',
  'approval.respond': 'approver',
  'fleet.show': 'viewer',
  'fleet.control_agent': 'operator',
  'fleet.resolve_decision': 'approver',
  'fleet.brake': 'operator',
  'fleet.release_brake': 'operator',
  'fleet.set_mode': 'operator',
  'fleet.advance_ticks': 'operator',
  'fleet.trust': 'viewer',
  'fleet.knowledge': 'viewer',
  'fleet.review_artifact': 'approver',
} as const satisfies Readonly<Record<string, Needed>>;
export type OperatorToolName = keyof typeof operatorToolAccess;

/** The resources at `/mcp`, by name; subscribing needs the same role. */
export const operatorResourceAccess = {
  executions: 'viewer',
  execution: 'viewer',
  frames: 'viewer',
  frame: 'viewer',
  events: 'viewer',
  node: 'viewer',
  'node-runs': 'viewer',
  artifacts: 'viewer',
  approvals: 'viewer',
  scripts: 'viewer',
  /** With a file, the plan's code is loaded. */
  'scripts?file': 'operator',
  health: 'viewer',
} as const satisfies Readonly<Record<string, Needed>>;
export type OperatorResourceKey = keyof typeof operatorResourceAccess;

export type AgentToolName = (typeof guidedSchemas)[keyof typeof guidedSchemas]['tool'];

/** The tools at `/mcp/agent`. */
export const agentToolAccess = {
  list_workflows: 'agent',
  inspect_workflow: 'agent',
  start_workflow: 'agent',
  continue_workflow: 'agent',
  checkpoint_workflow: 'agent',
  resume_session: 'agent',
} as const satisfies Readonly<Record<AgentToolName, Needed>>;

/** What `/mcp/agent` offers besides tools, to clients that show it. */
export const agentOfferAccess = {
  prompts: 'agent',
  step: 'agent',
  recap: 'agent',
} as const satisfies Readonly<Record<string, Needed>>;

/** The messages that a client sends on `/api/ws`. */
export type SocketKey =
  | Exclude<ClientMessage['kind'], 'subscribe'>
  | 'subscribe to a run'
  | 'subscribe to all runs'
  | 'subscribe to the fleet';
export const socketAccess = {
  hello: 'viewer',
  'subscribe to a run': 'viewer',
  'subscribe to all runs': 'viewer',
  'subscribe to the fleet': 'viewer',
  unsubscribe: 'viewer',
} as const satisfies Readonly<Record<SocketKey, Needed>>;

export function socketKeyOf(message: ClientMessage): SocketKey {
  if (message.kind !== 'subscribe') return message.kind;
  if (message.run === 'fleet') return 'subscribe to the fleet';
  return message.run === 'all' ? 'subscribe to all runs' : 'subscribe to a run';
}

const ladder: readonly UserRole[] = ['viewer', 'approver', 'operator', 'owner'];

/** Whether a role may do what needs another (T2, T3). */
export function opens(role: UserRole, needed: Needed): boolean {
  if (needed === 'no token' || role === needed) return true;
  return ladder.includes(needed) && ladder.indexOf(role) > ladder.indexOf(needed);
}

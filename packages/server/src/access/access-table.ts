import type { guidedSchemas } from '@signalbox/app/guided';
import type { ClientMessage, UserRole } from '@signalbox/model';

/**
 * What every way into the server needs, and the only place that says so.
 *
 * T1  A route, tool, resource or message that is not in this table does not exist: it does not compile, the server does not start
 *     with it, or it is answered as unknown.
 * T2  Of `viewer`, `approver`, `operator` and `owner`, each may do what those before it may.
 * T3  `agent` is for agents alone. What raises decisions is theirs and what answers them is not, so that no token does both (R41).
 * T4  `no token` is for what comes before a token.
 */
export type Needed = UserRole | 'no token';

export const routeAccess = {
  'POST /api/login': 'no token',
  'POST /api/links': 'owner',

  'GET /api/health': 'viewer',
  'GET /api/openapi.json': 'viewer',
  'GET /metrics': 'viewer',

  'POST /api/runs': 'operator',
  'GET /api/runs': 'viewer',
  'GET /api/runs/:run': 'viewer',
  'POST /api/runs/:run/pause': 'operator',
  'POST /api/runs/:run/resume': 'operator',
  'POST /api/runs/:run/stop': 'operator',
  'POST /api/runs/:run/terminate': 'operator',
  'POST /api/runs/:run/signals': 'operator',
  'POST /api/runs/:run/nodes/:node/retry': 'operator',
  'POST /api/runs/:run/nodes/:node/cancel': 'operator',
  'POST /api/runs/:run/nodes/:node/reset': 'operator',
  'POST /api/runs/:run/nodes/:node/rerun': 'operator',
  'POST /api/runs/:run/fork': 'operator',
  'POST /api/runs/:run/edits': 'operator',
  'POST /api/runs/:run/undo': 'operator',
  'POST /api/runs/:run/rollback': 'operator',
  'POST /api/runs/:run/keep': 'operator',
  'POST /api/runs/:run/unkeep': 'operator',
  // For good, and by whoever knows the secret.
  'POST /api/runs/:run/redact': 'owner',
  'POST /api/runs/:run/nodes': 'operator',
  'PATCH /api/runs/:run/nodes/:node': 'operator',
  'POST /api/runs/:run/edges': 'operator',
  'DELETE /api/runs/:run/edges/:edge': 'operator',
  'POST /api/runs/:run/chat': 'operator',

  'GET /api/runs/:run/lineage': 'viewer',
  'GET /api/runs/:run/checkpoints': 'viewer',
  'GET /api/runs/:run/events': 'viewer',
  'GET /api/runs/:run/frames': 'viewer',
  'GET /api/runs/:run/frames/:frame/tree': 'viewer',
  'GET /api/runs/:run/state': 'viewer',
  'GET /api/runs/:run/transitions': 'viewer',
  'GET /api/runs/:run/tasks': 'viewer',
  'GET /api/runs/:run/stream/:task': 'viewer',
  'GET /api/runs/:run/diff': 'viewer',
  'GET /api/runs/:run/nodes/:node/input': 'viewer',
  'GET /api/runs/:run/bundle': 'viewer',
  'POST /api/runs/:run/verify': 'viewer',
  // Both run the code of a plan.
  'POST /api/runs/:run/replay': 'operator',
  'GET /api/plans/describe': 'operator',
  'GET /api/plans': 'viewer',

  'GET /api/approvals': 'viewer',
  'POST /api/approvals/:decision/resolve': 'approver',

  'GET /api/artifacts': 'viewer',
  'GET /api/artifacts/:artifact': 'viewer',
  'GET /api/artifacts/:artifact/content': 'viewer',

  'GET /api/sessions': 'viewer',
  'POST /api/sessions': 'operator',
  'GET /api/sessions/:session': 'viewer',
  'POST /api/sessions/:session/gaps/:gap/answer': 'approver',
  'GET /api/workflows': 'viewer',
  'GET /api/workflows/:workflow': 'viewer',
  'GET /api/workflows/:workflow/forms': 'viewer',

  'GET /api/providers': 'viewer',
  'GET /api/usage': 'viewer',
  'GET /api/recoveries': 'viewer',
  'POST /api/recoveries/:call/dismiss': 'operator',
  'POST /api/imports': 'operator',
  'POST /api/gc': 'operator',

  'GET /api/settings': 'viewer',
  'GET /api/users': 'owner',
  'POST /api/users': 'owner',
  'POST /api/users/:name/rotate': 'owner',
  'DELETE /api/users/:name': 'owner',

  'ALL /mcp': 'viewer',
  'ALL /mcp/agent': 'agent',
} as const satisfies Readonly<Record<`${string} /${string}`, Needed>>;
export type RouteKey = keyof typeof routeAccess;

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
} as const satisfies Readonly<Record<string, Needed>>;
export type OperatorToolName = keyof typeof operatorToolAccess;

/** What is read at `/mcp`, by name; subscribing to it needs the same. */
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
  /** With a file, the code of that plan is loaded. */
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

/** What a client says on `/api/ws`. */
export type SocketKey = Exclude<ClientMessage['kind'], 'subscribe'> | 'subscribe to a run' | 'subscribe to all runs';
export const socketAccess = {
  hello: 'viewer',
  'subscribe to a run': 'viewer',
  'subscribe to all runs': 'viewer',
  unsubscribe: 'viewer',
} as const satisfies Readonly<Record<SocketKey, Needed>>;

export function socketKeyOf(message: ClientMessage): SocketKey {
  if (message.kind !== 'subscribe') return message.kind;
  return message.run === 'all' ? 'subscribe to all runs' : 'subscribe to a run';
}

const ladder: readonly UserRole[] = ['viewer', 'approver', 'operator', 'owner'];

/** Whether a role opens what needs another (T2, T3). */
export function opens(role: UserRole, needed: Needed): boolean {
  if (needed === 'no token' || role === needed) return true;
  return ladder.includes(needed) && ladder.indexOf(role) > ladder.indexOf(needed);
}

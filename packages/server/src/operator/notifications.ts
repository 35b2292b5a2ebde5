import type { CommitNotice } from '@signalbox/app/host';
import type { Json, JsonObject } from '@signalbox/model';

/** The names of all notifications to operator clients (PRD 10.5). */
export const newsNames = [
  'frame.created',
  'node.updated',
  'task.updated',
  'agent.stream',
  'approval.requested',
  'execution.status',
] as const;
type NewsName = (typeof newsNames)[number];

/** The fields of each, besides the id of its execution. */
export const newsFields: Readonly<Record<NewsName, readonly string[]>> = {
  'frame.created': ['frame_index', 'reason', 'state_keys_changed'],
  'node.updated': ['node_id', 'status', 'run_id'],
  'task.updated': ['task_id', 'status'],
  'agent.stream': ['run_id', 'chunk_type', 'payload'],
  'approval.requested': ['approval_id', 'kind', 'node_id'],
  'execution.status': ['status', 'reason'],
};

export interface OperatorNotification {
  readonly method: `signalbox.${NewsName}`;
  readonly params: JsonObject;
}

/** The notifications for a commit, in order. */
export function notificationsOf({ run, events, stream }: CommitNotice): readonly OperatorNotification[] {
  const written = Map.groupBy(
    events.flatMap(({ event }) => (event.type === 'state.changed' ? [event] : [])),
    ({ frame }) => frame,
  );
  const tasks = new Map(
    events.flatMap(({ event }) => ('task' in event && 'node' in event ? [[event.node, event.task ?? null]] : [])),
  );
  const told = events.flatMap(({ event }): readonly OperatorNotification[] => {
    switch (event.type) {
      case 'frame.committed': {
        const keys = (written.get(event.frame) ?? []).map(({ key }) => key);
        return [
          of('frame.created', { frame_index: event.frame, reason: event.trigger.kind, state_keys_changed: keys }),
        ];
      }
      case 'node.status':
        return [of('node.updated', { node_id: event.node, status: event.to, run_id: tasks.get(event.node) ?? null })];
      case 'task.started':
        return [of('task.updated', { task_id: event.task, status: 'running' })];
      case 'task.ended':
        return [of('task.updated', { task_id: event.task, status: event.outcome })];
      case 'task.retry':
        return [of('task.updated', { task_id: event.task, status: 'pending' })];
      case 'task.orphaned':
        return [of('task.updated', { task_id: event.task, status: 'orphaned' })];
      case 'decision.asked':
        return [of('approval.requested', { approval_id: event.decision, kind: event.kind, node_id: event.node })];
      case 'run.status': {
        const why = event.stopReason ?? event.error?.message ?? null;
        return [of('execution.status', { status: event.to, reason: why })];
      }
      default:
        return [];
    }
  });
  const said = stream
    .filter(({ kind }) => kind !== 'message')
    .map(({ task, kind, payload }) => of('agent.stream', { run_id: task, chunk_type: kind, payload: fields(payload) }));
  return [...told, ...said];

  function of(name: NewsName, params: JsonObject): OperatorNotification {
    return { method: `signalbox.${name}`, params: { execution_id: run, ...params } };
  }
}

/** An agent's output, always as an object. */
function fields(payload: Json): JsonObject {
  if (typeof payload === 'string') return { text: payload };
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload)
    ? (payload as JsonObject)
    : { value: payload };
}

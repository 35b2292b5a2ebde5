import type { CommitNotice } from '@signalbox/app/runs';
import type { Json } from '@signalbox/model';

export interface OperatorNotification {
  readonly method: string;
  readonly params: Readonly<Record<string, Json>>;
}

/** What a commit means for a program of an operator, in order (PRD 10.5). */
export function notificationsOf({ run, events, stream }: CommitNotice): readonly OperatorNotification[] {
  const written = Map.groupBy(
    events.flatMap(({ event }) => (event.type === 'state.changed' ? [event] : [])),
    ({ frame }) => frame,
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
        return [of('node.updated', { node_id: event.node, status: event.to, run_id: null })];
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
    .map(({ task, kind, payload }) => of('agent.stream', { run_id: task, chunk_type: kind, payload }));
  return [...told, ...said];

  function of(name: string, params: Readonly<Record<string, Json>>): OperatorNotification {
    return { method: `signalbox.${name}`, params: { execution_id: run, ...params } };
  }
}

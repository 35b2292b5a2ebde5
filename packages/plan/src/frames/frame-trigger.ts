import type { FrameTrigger } from '@signalbox/runs';
import type { TriggerKind } from './frame-scheduler.ts';

/** The most telling first. */
const triggerKinds: Record<TriggerKind, FrameTrigger['kind']> = {
  start: 'start',
  resume: 'resume',
  signal: 'signal',
  task_finished: 'task',
  task_progressed: 'task',
  task_started: 'task',
  state_flush: 'state',
  late_write: 'state',
  input: 'operator',
  stop_requested: 'operator',
  file_changed: 'file',
  timer: 'timer',
};
const inOrder = Object.keys(triggerKinds) as readonly TriggerKind[];

/** What the record of a frame says of why it was made. */
export function triggerOf(triggers: readonly TriggerKind[], written: readonly string[]): FrameTrigger {
  const first = triggers.length === 1 ? triggers[0] : inOrder.find(kind => triggers.includes(kind));
  return {
    kind: triggerKinds[first ?? 'timer'],
    detail: triggers.join(' '),
    ...(written.length === 0 ? {} : { keys: written }),
  };
}

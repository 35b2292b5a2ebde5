import type { CommitNotice } from '@signalbox/app/host';
import { executionAddress, HEALTH, LIST, nodeAddress, SCHEME } from './address.ts';

/** The addresses of the resources that a commit changed, without queries, each once. */
export function changedResources({ run, events, stream }: CommitNotice): readonly string[] {
  const execution = executionAddress(run);
  const changed = new Set<string>();
  // Agent output is not an event, but is shown with the events.
  if (events.length > 0 || stream.length > 0) changed.add(`${execution}/events`);
  for (const { event } of events) {
    changed.add(execution);
    if ('frame' in event && typeof event.frame === 'number') changed.add(`${execution}/frames/${event.frame}`);
    if ('node' in event && typeof event.node === 'string') {
      changed.add(nodeAddress(run, event.node));
      if ('task' in event) changed.add(`${nodeAddress(run, event.node)}/runs`);
    }
    switch (event.type) {
      case 'frame.committed':
        changed.add(`${execution}/frames`);
        break;
      case 'artifact.created':
        changed.add(`${execution}/artifacts`);
        break;
      case 'run.created':
        changed.add(LIST).add(`${SCHEME}scripts`).add(HEALTH);
        break;
      case 'run.status':
      case 'usage.recorded':
        changed.add(LIST).add(HEALTH);
        break;
      case 'decision.asked':
      case 'decision.proposed':
      case 'decision.answered':
      case 'decision.withdrawn':
        changed.add(`${execution}/approvals`).add(HEALTH);
        break;
    }
  }
  return [...changed];
}

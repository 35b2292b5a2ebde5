import type { Outbox, Subscription } from '../live/live-runs.ts';
import type { FleetDesk } from './fleet-desk.ts';

/**
 * One client watching the fleet: first the whole state, then every message. While the client has no room nothing is sent, and then the
 * state again: it holds what the messages in between said.
 */
export function subscribeFleet(fleet: Pick<FleetDesk, 'sync' | 'subscribe'>, outbox: Outbox): Subscription {
  let isBehind = true;
  const pump = () => {
    if (!isBehind || !outbox.isFree) return;
    isBehind = false;
    outbox.send({ kind: 'fleet', message: fleet.sync() });
  };
  const close = fleet.subscribe(message => {
    if (!isBehind && outbox.isFree) outbox.send({ kind: 'fleet', message });
    else {
      isBehind = true;
      pump();
    }
  });
  pump();
  return { pump, close };
}

import type { GuidedEvent, GuidedRuns } from '@signalbox/guided';
import type { EventView, RunId, SaidEvent, WireEvent, WireStoredEvent } from '@signalbox/model';
import { type ErrorEnvelope, ok, type Result } from '@signalbox/model';
import type { RunReader, StoredEvent } from '@signalbox/runs';
import { contractView } from './plan-events.ts';

/** Converts events of a plan run to the requested form. */
export type TellEvents = (stored: readonly StoredEvent[]) => Promise<readonly ToldEvent[]>;

interface ToldEvent {
  readonly stored: WireStoredEvent;
  /** Events for watchers only, sent before it: they are in no history. */
  readonly beside: readonly SaidEvent[];
}

export function tellEvents(reader: RunReader, run: RunId, view: EventView): TellEvents {
  if (view === 'stored') return async all => all.map(stored => ({ stored: stored as WireStoredEvent, beside: [] }));
  const tell = contractView(reader, run);
  return async all => (await tell(all)).map(({ event, hash, beside }) => ({ stored: { event, hash }, beside }));
}

/** Events of a guided run, starting at one of them. */
export function guidedEvents(
  guided: GuidedRuns,
  run: RunId,
  { from, limit, view }: { readonly from: number; readonly limit: number; readonly view: EventView },
): Result<readonly WireStoredEvent[], ErrorEnvelope> {
  const found = guided.events(run, from, limit);
  if (!found.ok) return found;
  return ok(found.value.map(each => ({ event: eventAs(each, view), hash: each.hash })));
}

/** The journal's event, in the common envelope. */
function eventAs({ contract, stored }: GuidedEvent, view: EventView): WireEvent {
  if (view === 'contract') return contract;
  const { v, id, runId, seq, ts } = contract;
  const node = 'scope' in stored && stored.scope !== undefined && 'nodeId' in stored.scope && stored.scope.nodeId;
  return { v, id, runId, seq, ts, type: stored.kind, ...(node && { node }), data: stored.data };
}

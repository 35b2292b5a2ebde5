import { INTAKE_QUEUE_SIZE } from './intake-queue.ts';
import type { AgentIntake, MarkedEvent, PipelineConfig, SequenceRange } from './pipeline-state.ts';
import { counted } from './pipeline-state.ts';
import { hasSeen, withSeen } from './seen-ids.ts';

/** What became of an event, or of waiting ones. */
export interface Ordered {
  readonly intake: AgentIntake;
  /** To be accepted now, in this order. */
  readonly ready: readonly MarkedEvent[];
  /** A range to ask the adapter for. */
  readonly replay?: SequenceRange;
  /** Ranges that were given up. */
  readonly lost: readonly SequenceRange[];
  /** Why the event was not used, if it was a fault of its sender. */
  readonly fault?: string;
}

/** Ranges that were given up are remembered for events that come late; more than this is not. */
const LOST_KEPT = 64;
/** Below the next sequence by more than this, an event is a duplicate whose id is no longer known. */
const REMEMBERED = 2_500;

/**
 * Puts an event of the current session in its place.
 *
 * O1  An event id is accepted once.
 * O2  Events are accepted by sequence. One beyond a gap waits, until the gap is filled or given up.
 * O3  A gap is asked for again before it is given up, and giving it up is said.
 * O4  An event whose sequence was given up is accepted when it comes, marked as late.
 * O5  A sequence that two events claim is a fault of the second.
 */
export function inOrder(intake: AgentIntake, event: MarkedEvent, config: PipelineConfig, tick: number): Ordered {
  const { sourceEventId, sourceSequence } = event.envelope;
  if (hasSeen(intake.seen, sourceEventId)) return duplicate(intake);
  if (sourceSequence < intake.next) return behind(intake, event);
  const waiting = intake.held.find(held => held.envelope.sourceSequence === sourceSequence);
  if (waiting !== undefined) {
    return waiting.envelope.sourceEventId === sourceEventId ? duplicate(intake) : claimed(intake, sourceSequence);
  }
  if (sourceSequence > intake.next) return hold(intake, event, config, tick);
  return drained({ ...intake, next: sourceSequence + 1, seen: withSeen(intake.seen, sourceEventId) }, [event]);
}

/** Looks at a gap after ticks have passed: asks for it, or gives it up. */
export function orderAfter(intake: AgentIntake, config: PipelineConfig, tick: number): Ordered {
  const { held, heldSince, replay } = intake;
  const waits = { intake, ready: [], lost: [] };
  if (held.length === 0 || heldSince === null) return waits;
  if (replay !== null) return tick - replay.askedAt >= config.replayTicks ? giveUp(intake, tick) : waits;
  return tick - heldSince >= config.gapTicks ? askFor(intake, tick) : waits;
}

/** The adapter cannot send a range again. */
export function withoutReplay(intake: AgentIntake, range: SequenceRange, tick: number): Ordered {
  const isAsked = intake.replay !== null && intake.replay.range.from === range.from;
  return isAsked ? giveUp(intake, tick) : { intake, ready: [], lost: [] };
}

/** The next session begins: what waits is accepted without what was before it. */
export function endOrder(intake: AgentIntake, tick: number): Ordered {
  let current: Ordered = { intake, ready: [], lost: [] };
  while (current.intake.held.length > 0) {
    const next = giveUp(current.intake, tick);
    current = {
      intake: next.intake,
      ready: [...current.ready, ...next.ready],
      lost: [...current.lost, ...next.lost],
    };
  }
  return current;
}

/** The order of a new session begins at 0; ids that were accepted stay known. */
export function freshOrder(intake: AgentIntake): AgentIntake {
  return { ...intake, next: 0, held: [], heldSince: null, replay: null, lost: [] };
}

function duplicate(intake: AgentIntake): Ordered {
  return { intake: counted(intake, { duplicates: 1 }), ready: [], lost: [] };
}

function claimed(intake: AgentIntake, sequence: number): Ordered {
  return { intake, ready: [], lost: [], fault: `Sequence ${sequence} belongs to another event of this session.` };
}

function behind(intake: AgentIntake, event: MarkedEvent): Ordered {
  const { sourceEventId, sourceSequence: sequence } = event.envelope;
  const range = intake.lost.find(({ from, to }) => from <= sequence && sequence <= to);
  if (range === undefined) {
    return sequence < intake.next - REMEMBERED ? duplicate(intake) : claimed(intake, sequence);
  }
  const rest = [
    { from: range.from, to: sequence - 1 },
    { from: sequence + 1, to: range.to },
  ].filter(({ from, to }) => from <= to);
  const lost = intake.lost.flatMap(other => (other === range ? rest : [other]));
  return {
    intake: counted({ ...intake, lost, seen: withSeen(intake.seen, sourceEventId) }, { late: 1, lost: -1 }),
    ready: [{ ...event, marks: { ...event.marks, isLate: true } }],
    lost: [],
  };
}

function hold(intake: AgentIntake, event: MarkedEvent, config: PipelineConfig, tick: number): Ordered {
  const at = intake.held.findIndex(held => held.envelope.sourceSequence > event.envelope.sourceSequence);
  const held = intake.held.toSpliced(at === -1 ? intake.held.length : at, 0, event);
  const after = { ...intake, held, heldSince: intake.heldSince ?? tick };
  if (held.length >= INTAKE_QUEUE_SIZE) return giveUp(after, tick);
  if (held.length > config.orderWindow && after.replay === null) return askFor(after, tick);
  return { intake: after, ready: [], lost: [] };
}

function askFor(intake: AgentIntake, tick: number): Ordered {
  const range = gapOf(intake);
  return { intake: { ...intake, replay: { range, askedAt: tick } }, ready: [], lost: [], replay: range };
}

function giveUp(intake: AgentIntake, tick: number): Ordered {
  const range = gapOf(intake);
  const after = counted(
    { ...intake, next: range.to + 1, lost: [...intake.lost, range].slice(-LOST_KEPT) },
    { lost: range.to - range.from + 1 },
  );
  const { intake: moved, ready } = drained(after, []);
  // What still waits does so for another gap, which has its own time.
  return { intake: { ...moved, heldSince: moved.held.length === 0 ? null : tick }, ready, lost: [range] };
}

/** The sequences before the first event that waits. */
function gapOf({ next, held }: AgentIntake): SequenceRange {
  const first = held[0]?.envelope.sourceSequence ?? next;
  return { from: next, to: first - 1 };
}

/** What waits is ready as far as there is no gap. */
function drained(intake: AgentIntake, before: readonly MarkedEvent[]): Ordered {
  const ready = [...before];
  let { next, seen } = intake;
  let taken = 0;
  let duplicates = 0;
  for (const event of intake.held) {
    if (event.envelope.sourceSequence !== next) break;
    // Two sequences may claim one id; the second is a duplicate.
    if (hasSeen(seen, event.envelope.sourceEventId)) duplicates += 1;
    else {
      ready.push(event);
      seen = withSeen(seen, event.envelope.sourceEventId);
    }
    next += 1;
    taken += 1;
  }
  const held = intake.held.slice(taken);
  const isFilled = taken > 0 || held.length === 0;
  const after: AgentIntake = {
    ...intake,
    next,
    seen,
    held,
    heldSince: held.length === 0 ? null : intake.heldSince,
    replay: isFilled ? null : intake.replay,
  };
  return { intake: duplicates === 0 ? after : counted(after, { duplicates }), ready, lost: [] };
}

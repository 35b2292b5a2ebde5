import { v7 } from 'uuid';
import * as z from 'zod';
import { canonicalJson } from './canonical-json.ts';
import type { Clock } from './clock.ts';
import type { Json } from './json.ts';
import type { Rng } from './rng.ts';
import { uuidV5, uuidWords } from './uuid-v5.ts';

/** Every id is a lower-case UUID; the brand prevents mixing kinds. */
export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be a lower-case UUID');

export const runId = uuid.brand<'RunId'>();
export const nodeId = uuid.brand<'NodeId'>();
export const edgeId = uuid.brand<'EdgeId'>();
export const payloadId = uuid.brand<'PayloadId'>();
export const artifactId = uuid.brand<'ArtifactId'>();
export const eventId = uuid.brand<'EventId'>();
export const messageId = uuid.brand<'MessageId'>();
export const toolId = uuid.brand<'ToolId'>();
export const approvalId = uuid.brand<'ApprovalId'>();
export const sessionId = uuid.brand<'SessionId'>();
export const agentId = uuid.brand<'AgentId'>();
/** One life of an adapter's process; another one begins when the agent is started again. `runId` on the wire (R23). */
export const adapterSessionId = uuid.brand<'AdapterSessionId'>();
export const coherenceIssueId = uuid.brand<'CoherenceIssueId'>();
export const projectId = uuid.brand<'ProjectId'>();

export type RunId = z.infer<typeof runId>;
export type NodeId = z.infer<typeof nodeId>;
export type EdgeId = z.infer<typeof edgeId>;
type PayloadId = z.infer<typeof payloadId>;
export type ArtifactId = z.infer<typeof artifactId>;
export type EventId = z.infer<typeof eventId>;
export type MessageId = z.infer<typeof messageId>;
export type ToolId = z.infer<typeof toolId>;
export type ApprovalId = z.infer<typeof approvalId>;
export type SessionId = z.infer<typeof sessionId>;
export type AgentId = z.infer<typeof agentId>;
export type AdapterSessionId = z.infer<typeof adapterSessionId>;
export type CoherenceIssueId = z.infer<typeof coherenceIssueId>;
export type ProjectId = z.infer<typeof projectId>;

export type AnyId =
  | RunId
  | NodeId
  | EdgeId
  | PayloadId
  | ArtifactId
  | EventId
  | MessageId
  | ToolId
  | ApprovalId
  | SessionId
  | AgentId
  | AdapterSessionId
  | CoherenceIssueId
  | ProjectId;

/** Mints ids: `ids.mint<RunId>()`. */
export interface IdSource {
  mint<Id extends AnyId>(): Id;
}

/**
 * UUIDv7 ids that sort in mint order, even within one millisecond and when the clock steps back: the time never decreases,
 * and a 32-bit counter with a random start orders ids within a millisecond.
 */
export function createIdSource(clock: Clock, rng: Rng): IdSource {
  let tick: Tick = { msecs: 0, sequence: 0 };
  return {
    mint<Id extends AnyId>(): Id {
      const random = Uint8Array.from(rng.bytes(16));
      tick = nextTick(tick, clock.now(), new DataView(random.buffer).getUint32(0) >>> 1);
      return v7({ msecs: tick.msecs, seq: tick.sequence, random }) as Id;
    },
  };
}

/** A position in the order of minted ids. */
export interface Tick {
  readonly msecs: number;
  readonly sequence: number;
}

const LAST_SEQUENCE = 0xffff_ffff;

/** The position after `last`; `start` is where the counter of a new millisecond begins. */
export function nextTick(last: Tick, now: number, start: number): Tick {
  const msecs = Math.floor(now);
  if (msecs > last.msecs) return { msecs, sequence: start };
  if (last.sequence < LAST_SEQUENCE) return { msecs: last.msecs, sequence: last.sequence + 1 };
  return { msecs: last.msecs + 1, sequence: 0 };
}

/** The UUIDv5 namespace of every id that Signalbox derives. */
const NAMESPACE = uuidWords('5b1e7a10-51b0-5a1b-8b0c-0c0ffee0b0c5');

/** Canonical JSON: for a list of plain texts and integers, the platform's output is already canonical. */
function canonicalList(parts: readonly Json[]): string {
  const isSimple = parts.every(part => (typeof part === 'string' ? part.isWellFormed() : Number.isSafeInteger(part)));
  return isSimple ? JSON.stringify(parts) : canonicalJson(parts);
}

/** A deterministic id for the same parts, for anything that a retry must name again. */
export function deriveId<Id extends AnyId>(kind: string, ...parts: readonly Json[]): Id {
  return uuidV5(NAMESPACE, canonicalList([kind, ...parts])) as Id;
}

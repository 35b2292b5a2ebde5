import * as z from 'zod';
import { saidEvent } from '../contract/event.ts';
import { errorEnvelope } from '../error-envelope.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';
import { wireDecision } from './decisions.ts';
import { storedEvent, wireChunk } from './history.ts';
import { providerBrief } from './providers.ts';
import { eventView } from './requests.ts';
import { runOutline, treeNode, wireTask } from './run-snapshot.ts';
import { runSummary } from './run-summary.ts';

/**
 * What travels on `/api/ws`, one JSON object a message. Only what is committed is sent.
 *
 * 1. The client says `hello` first. Nothing is answered before, and whoever does not say it soon is cut off.
 * 2. A subscription begins with the full state. What follows brings that state forward.
 * 3. Events of a run come once each, in order, without a gap; `from` goes on where an earlier connection ended.
 * 4. Everything else is a picture of now: a newer one replaces an older, and what came and went in between is not shown.
 */
export const clientMessage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hello'), token: z.string().max(512) }),
  /** One subscription a run, and one of all runs. A second one begins anew. */
  z.strictObject({
    kind: z.literal('subscribe'),
    run: z.union([runId, z.literal('all')]),
    /** The first event to send; without it, those that come after the state. */
    from: z.int().nonnegative().optional(),
    /** What events are told as; the contract's unless said otherwise. */
    view: eventView.optional(),
    /** Leaves out of the state what the contract calls nodes, edges and artifacts: whoever draws the tree needs none of them. */
    outline: z.boolean().optional(),
  }),
  z.strictObject({ kind: z.literal('unsubscribe'), run: z.union([runId, z.literal('all')]) }),
]);
export type ClientMessage = z.infer<typeof clientMessage>;

export const serverMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('welcome') }),
  /** The state of all runs: the newest of them. */
  z.object({ kind: z.literal('runs'), runs: z.array(runSummary).readonly(), next: text.optional() }),
  /** The state of a run. `next` is the `seq` of the first event that will follow. */
  z.object({ kind: z.literal('state'), run: runId, snapshot: runOutline, next: z.int().nonnegative() }),
  z.object({ kind: z.literal('event'), run: runId, stored: storedEvent }),
  /** A run as it is now, for subscribers of it or of all. */
  z.object({ kind: z.literal('run'), run: runId, summary: runSummary }),
  /** Nodes that came or changed, and those that left. */
  z.object({
    kind: z.literal('nodes'),
    run: runId,
    put: z.array(treeNode).readonly(),
    gone: z.array(text).readonly(),
  }),
  /** What waits for a person now, and what is under way now. */
  z.object({ kind: z.literal('decisions'), run: runId, decisions: z.array(wireDecision).readonly() }),
  z.object({ kind: z.literal('tasks'), run: runId, tasks: z.array(wireTask).readonly() }),
  /** The same as the contract has it, for who asked for its events. `dropped` parts before it were too many. */
  z.object({ kind: z.literal('said'), run: runId, event: saidEvent, dropped: z.int().nonnegative() }),
  /** What an agent says. Texts that follow each other are one chunk, with the index of the first; `dropped` were too many. */
  z.object({
    kind: z.literal('stream'),
    run: runId,
    task: text,
    chunks: z.array(wireChunk).readonly(),
    next: z.int().nonnegative(),
    dropped: z.int().nonnegative(),
  }),
  /** How the providers of models do now, for subscribers of all runs: at the beginning, and when that changes. */
  z.object({ kind: z.literal('providers'), providers: z.array(providerBrief).readonly() }),
  /** A message that was not understood, or a subscription that cannot be. */
  z.object({ kind: z.literal('refused'), run: z.union([runId, z.literal('all')]).optional(), error: errorEnvelope }),
]);
export type ServerMessage = z.infer<typeof serverMessage>;

/** Why the server ends a connection. */
export const closeCodes = { unauthorized: 4401, tooSlow: 4408, goingAway: 1001, failed: 1011, tooMany: 1013 } as const;

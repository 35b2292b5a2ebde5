import * as z from 'zod';
import { saidEvent } from '../contract/event.ts';
import { errorEnvelope } from '../error-envelope.ts';
import { fleetMessage } from '../fleet/socket-messages.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';
import { wireDecision } from './decisions.ts';
import { storedEvent, wireChunk } from './history.ts';
import { providerBrief } from './providers.ts';
import { eventView } from './requests.ts';
import { runOutline, treeNode, wireTask } from './run-snapshot.ts';
import { runSummary } from './run-summary.ts';

/**
 * The messages on `/api/ws`, one JSON object each. Only committed data is sent.
 *
 * 1. The client sends `hello` first. Nothing is answered before it, and a client that does not send it soon is disconnected.
 * 2. A subscription begins with the full state; later messages update it.
 * 3. Events of a run arrive once each, in order, without gaps; `from` continues an earlier connection.
 * 4. All other messages are snapshots: a newer one replaces an older one, and states in between are not shown.
 */
export const clientMessage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hello'), token: z.string().max(512) }),
  /** One subscription per run, one of all runs, and one of the fleet. Subscribing again starts over. */
  z.strictObject({
    kind: z.literal('subscribe'),
    run: z.union([runId, z.literal('all'), z.literal('fleet')]),
    /** The first event to send; by default, the first after the state. */
    from: z.int().nonnegative().optional(),
    /** The form of events; the contract's by default. */
    view: eventView.optional(),
    /** Omits the contract's nodes, edges and artifacts from the state, for clients that draw the tree. */
    outline: z.boolean().optional(),
  }),
  z.strictObject({ kind: z.literal('unsubscribe'), run: z.union([runId, z.literal('all'), z.literal('fleet')]) }),
]);
export type ClientMessage = z.infer<typeof clientMessage>;

export const serverMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('welcome') }),
  /** The state of all runs: the newest of them. */
  z.object({ kind: z.literal('runs'), runs: z.array(runSummary).readonly(), next: text.optional() }),
  /** The state of a run. `next` is the `seq` of the first event that will follow. */
  z.object({ kind: z.literal('state'), run: runId, snapshot: runOutline, next: z.int().nonnegative() }),
  z.object({ kind: z.literal('event'), run: runId, stored: storedEvent }),
  /** The current state of a run, for subscribers of it or of all. */
  z.object({ kind: z.literal('run'), run: runId, summary: runSummary }),
  /** Added or changed nodes, and removed ones. */
  z.object({
    kind: z.literal('nodes'),
    run: runId,
    put: z.array(treeNode).readonly(),
    gone: z.array(text).readonly(),
  }),
  /** Open decisions, and running tasks. */
  z.object({ kind: z.literal('decisions'), run: runId, decisions: z.array(wireDecision).readonly() }),
  z.object({ kind: z.literal('tasks'), run: runId, tasks: z.array(wireTask).readonly() }),
  /** The same in the contract's form, for clients that requested it. `dropped` counts omitted parts before it. */
  z.object({ kind: z.literal('said'), run: runId, event: saidEvent, dropped: z.int().nonnegative() }),
  /** An agent's output. Consecutive texts are one chunk with the index of the first; `dropped` counts omitted ones. */
  z.object({
    kind: z.literal('stream'),
    run: runId,
    task: text,
    chunks: z.array(wireChunk).readonly(),
    next: z.int().nonnegative(),
    dropped: z.int().nonnegative(),
  }),
  /** The state of model providers, for subscribers of all runs: at the start, and on every change. */
  z.object({ kind: z.literal('providers'), providers: z.array(providerBrief).readonly() }),
  /** About the fleet, for its subscribers: first the whole state, then what happens. A client that was slow gets the state again. */
  z.object({ kind: z.literal('fleet'), message: fleetMessage }),
  /** An invalid message, or an impossible subscription. */
  z.object({
    kind: z.literal('refused'),
    run: z.union([runId, z.literal('all'), z.literal('fleet')]).optional(),
    error: errorEnvelope,
  }),
]);
export type ServerMessage = z.infer<typeof serverMessage>;

/** Why the server ends a connection. */
export const closeCodes = { unauthorized: 4401, tooSlow: 4408, goingAway: 1001, failed: 1011, tooMany: 1013 } as const;

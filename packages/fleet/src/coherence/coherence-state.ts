import {
  agentId,
  approvalId,
  artifactId,
  coherenceCategory,
  coherenceIssueId,
  digest,
  severity,
  text,
  timestamp,
} from '@signalbox/model';
import * as z from 'zod';
import { count, name, tick } from '../fields.ts';

/** Something that does not fit together, until it is settled. */
const coherenceIssue = z.strictObject({
  id: coherenceIssueId,
  title: text,
  description: text,
  category: coherenceCategory,
  severity,
  status: z.enum(['open', 'investigating', 'confirmed', 'resolved', 'dismissed']),
  affectedWorkstreams: z.array(name).readonly(),
  affectedArtifactIds: z.array(artifactId).readonly(),
  /** An agent's id if it found the issue, a person's name, or `system`. */
  foundBy: text.min(1),
  foundAt: timestamp,
  foundAtTick: tick,
});
export type CoherenceIssue = Readonly<z.infer<typeof coherenceIssue>>;

/** Two artifacts of different workstreams that look alike. */
const coherenceCandidate = z.strictObject({
  artifactIdA: artifactId,
  artifactIdB: artifactId,
  workstreamA: name,
  workstreamB: name,
  similarityScore: z.number(),
  candidateCategory: coherenceCategory,
  detectedAt: timestamp,
  promotedToLayer2: z.boolean(),
});
export type CoherenceCandidate = Readonly<z.infer<typeof coherenceCandidate>>;

export const coherenceState = z.strictObject({
  issues: z.record(coherenceIssueId, coherenceIssue),
  /** Who wrote a file last. */
  files: z.record(text, z.strictObject({ agentId, artifactId, tick })),
  contents: z.record(digest, z.strictObject({ artifactId, workstream: name })),
  /** What open decisions recommend about artifacts. */
  options: z.record(
    approvalId,
    z.strictObject({ agentId, workstream: name, artifactIds: z.array(artifactId).readonly(), recommended: text }),
  ),
  /** Artifacts whose text can be compared. */
  comparable: z.record(artifactId, z.strictObject({ workstream: name, agentId })),
  scan: z.strictObject({
    number: count,
    lastTick: tick,
    /** Since the last scan. */
    changed: z.array(artifactId).readonly(),
    isWanted: z.boolean(),
  }),
  /** Pairs that wait for a review, and those that are under review. */
  candidates: z.array(coherenceCandidate).readonly(),
  underReview: z.array(coherenceCandidate).readonly(),
  /** When reviews were asked for, in the last hour. */
  reviewsAskedAt: z.array(timestamp).readonly(),
  /** Pairs that a review dismissed: they are not looked at again. */
  dismissedPairs: z.array(text).readonly(),
  verdicts: z.array(z.strictObject({ at: timestamp, isFalse: z.boolean() })).readonly(),
  /** Set by feedback; null: as configured. */
  promotionThreshold: z.number().nullable(),
  /** The score after each tick in which it changed. */
  scores: z.array(z.strictObject({ tick, score: z.number() })).readonly(),
});
export type CoherenceState = Readonly<z.infer<typeof coherenceState>>;

export const noCoherence: CoherenceState = {
  issues: {},
  files: {},
  contents: {},
  options: {},
  comparable: {},
  scan: { number: 0, lastTick: 0, changed: [], isWanted: false },
  candidates: [],
  underReview: [],
  reviewsAskedAt: [],
  dismissedPairs: [],
  verdicts: [],
  promotionThreshold: null,
  scores: [],
};

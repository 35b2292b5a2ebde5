import type {
  ApprovalId,
  artifactsQuery,
  Digest,
  decisionsQuery,
  ErrorEnvelope,
  EventView,
  Resolution,
  Result,
  RunId,
  RunSnapshot,
  RunSummary,
  runsQuery,
  WireArtifact,
  WireDecision,
  WireStoredEvent,
} from '@signalbox/model';
import type * as z from 'zod';
import type { PartList } from './paging.ts';

export type RunsAsked = z.infer<typeof runsQuery>;
export type ArtifactsAsked = z.infer<typeof artifactsQuery>;
export type DecisionsAsked = Omit<z.infer<typeof decisionsQuery>, 'run'> & { readonly run?: RunId | undefined };
export interface EventsAsked {
  readonly from: number;
  readonly limit: number;
  readonly view: EventView;
}

type Found<T> = Promise<Result<T, ErrorEnvelope>>;

/** The runs of one driver in the contract's form. Undefined answers mean that it is not this driver's. */
export interface DriverReads {
  readonly kind: RunSummary['kind'];
  /** Newest first. */
  runs(asked: RunsAsked): PartList<RunSummary>;
  find(run: RunId): Found<RunSummary | undefined>;
  show(run: RunId): Found<RunSnapshot | undefined>;
  /** Starting at an event, in order. */
  events(run: RunId, asked: EventsAsked): Found<readonly WireStoredEvent[] | undefined>;
  /** Newest first. */
  artifacts(asked: ArtifactsAsked): PartList<ListedArtifact>;
  artifact(id: string): Found<FoundArtifact | undefined>;
  /** A derived artifact; all runs are searched. */
  madeArtifact?(id: string): Found<FoundArtifact | undefined>;
  /** Oldest first. */
  decisions(asked: DecisionsAsked): PartList<WireDecision>;
  decision(id: ApprovalId): Found<WireDecision | undefined>;
}

export interface RunDriver extends DriverReads {
  /** An answer counts once; a second one returns the first. */
  answer(decision: ApprovalId, answer: DecisionAnswer, by: string): Found<WireDecision>;
}

interface DecisionAnswer {
  readonly resolution: Resolution;
  /** The hash of the shown proposal: an answer to another one is void. */
  readonly proposalHash?: Digest | undefined;
}

/** An artifact in a list. */
export interface ListedArtifact {
  readonly id: string;
  readonly createdAt: string;
  /** Whether it is derived on request. */
  readonly isMade: boolean;
  view(): Found<WireArtifact>;
}

export interface FoundArtifact {
  readonly artifact: WireArtifact;
  content(): Found<Uint8Array>;
}

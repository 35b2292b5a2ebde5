import type { Disk, SessionHealth } from '@signalbox/journal';
import type { Digest, ErrorEnvelope, Hasher, Result, RunEvent, SecretFilter } from '@signalbox/model';
import type { BlobError } from '@signalbox/runs';
import type { DomainEvent } from '@signalbox/workflow';
import type { GuidedFacts } from './runs/projections/guided-parts.ts';

/** The parts of a data directory that guided sessions share with runs. */
export interface GuidedPorts {
  /** The blobs of the data directory `home`. */
  openBlobs(options: BlobsOptions): SessionBlobs;
  /** Recognises the secrets of a data directory, and those in `env`. */
  openSecrets(options: SecretsOptions): { readonly filter: SecretFilter };
  /** The health of any journal, including those of runs. */
  journalHealth(directory: string): SessionHealth;
  /** The contract's event for an event of a session (R20). */
  contractEvent(event: DomainEvent, facts: GuidedFacts): RunEvent;
}

interface SessionBlobs {
  /** Durable when it returns. */
  put(content: Uint8Array): Result<Digest, ErrorEnvelope<'STORE_IO_FAILED'>>;
  get(name: Digest): Result<Uint8Array, BlobError>;
}

interface BlobsOptions {
  readonly disk: Disk;
  readonly hasher: Hasher;
  readonly home: string;
  /** Distinguishes this process's unfinished files from those of others. */
  readonly writer: string;
}

interface SecretsOptions {
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readOnly: boolean;
}

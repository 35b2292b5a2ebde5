import type { Digest, ErrorEnvelope, Result } from '@signalbox/model';

/** Contents named by their sha256, stored once, apart from the rows that refer to them. */
export interface Blobs {
  /** Returns when everything is durable: only then may a commit refer to it. */
  put(contents: readonly Uint8Array[]): Promise<Result<readonly Digest[], ErrorEnvelope<'STORE_IO_FAILED'>>>;
  get(name: Digest): Promise<Result<Uint8Array, BlobError>>;
}

export type BlobError = ErrorEnvelope<'store/blob-missing' | 'store/blob-corrupt' | 'STORE_IO_FAILED'>;

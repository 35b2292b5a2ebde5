import { type Digest, type ErrorEnvelope, JSON_MAX_DEPTH, type Json, json as jsonSchema } from '@signalbox/model';
import { INLINE_MAX_BYTES } from '@signalbox/runs';
import type * as z from 'zod';
import type { BlobFiles } from '../blobs/blob-files.ts';

/** What a JSON column holds: its text or, where that is large, the 32 bytes that name its blob. */
export type JsonCell = string | Uint8Array;

/** Writes and reads JSON columns. What is read is checked: a row that is not what was written is damage, never data. */
export interface JsonColumns {
  /** Throws `StoreFault` where a large text cannot be put on disk. */
  cellOf(text: string): JsonCell;
  textOf(cell: unknown): string;
  /** The text that a blob holds. */
  blobText(name: Digest): string;
  /** Makes a text durable as a blob. Throws `StoreFault` where it cannot be put on disk. */
  putText(text: string): Digest;
  read<T>(schema: z.ZodType<T>, cell: unknown, what: string): T;
  /** Any plain data. */
  readPlain(cell: unknown, what: string): Json;
}

/** A failure below a statement, thrown to where the transaction is. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  readonly envelope: ErrorEnvelope;

  constructor(envelope: ErrorEnvelope) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

/** Something in the database is not what was written there. */
export class StoreDamage extends Error {
  override readonly name = 'StoreDamage';
}

/** The cell of a value that lies in a blob, and the blob of such a cell. */
export function cellOfBlob(name: Digest): Uint8Array {
  return Buffer.from(name.slice('sha256:'.length), 'hex');
}

export function blobOf(cell: Uint8Array): Digest {
  return `sha256:${Buffer.from(cell).toString('hex')}` as Digest;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function jsonColumns(blobs: BlobFiles): JsonColumns {
  function textOf(cell: unknown): string {
    if (typeof cell === 'string') return cell;
    if (!(cell instanceof Uint8Array)) throw new StoreDamage(`a JSON column holds ${typeof cell}`);
    return blobText(blobOf(cell));
  }

  function blobText(name: Digest): string {
    const content = blobs.get(name);
    if (!content.ok) throw new StoreFault(content.error);
    return utf8.decode(content.value);
  }

  function putText(text: string): Digest {
    const name = blobs.put(Buffer.from(text));
    if (!name.ok) throw new StoreFault(name.error);
    return name.value;
  }

  return {
    cellOf(text) {
      // No UTF-16 unit takes more than three bytes: short texts need no counting.
      if (text.length * 3 <= INLINE_MAX_BYTES || Buffer.byteLength(text) <= INLINE_MAX_BYTES) return text;
      return cellOfBlob(putText(text));
    },
    textOf,
    blobText,
    putText,
    readPlain(cell, what) {
      const text = textOf(cell);
      const value = parseJson(text, what);
      const isPlain = text.length < JSON_MAX_DEPTH && !MAY_NOT_BE_PLAIN.test(text);
      return isPlain ? value : checked(jsonSchema, value, what);
    },
    read: (schema, cell, what) => checked(schema, parseJson(textOf(cell), what), what),
  };
}

/** What JSON can hold and our plain data cannot, besides depth, for which a text must be long: half characters, numbers without bound. */
const MAY_NOT_BE_PLAIN = /\\u[dD][89a-fA-F]|\d[eE]\+?\d{3}|\d{300}/;

function checked<T>(schema: z.ZodType<T>, value: Json, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new StoreDamage(`${what} is damaged: ${parsed.error.issues[0]?.message ?? 'not what was written'}`);
}

function parseJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new StoreDamage(`${what} is damaged: not JSON`, { cause });
  }
}

import { type Digest, type ErrorEnvelope, JSON_MAX_DEPTH, type Json, json as jsonSchema } from '@signalbox/model';
import { INLINE_MAX_BYTES } from '@signalbox/runs';
import type * as z from 'zod';
import type { BlobFiles } from '../blobs/blob-files.ts';

/** The content of a JSON column: its text or, if large, the 32 bytes that name its blob. */
export type JsonCell = string | Uint8Array;

/** Writes and reads JSON columns. Reads are checked: a row that differs from what was written is damage, never data. */
export interface JsonColumns {
  /** Throws `StoreFault` if a large text cannot be written. */
  cellOf(text: string): JsonCell;
  textOf(cell: unknown): string;
  /** The text of a blob. */
  blobText(name: Digest): string;
  /** Stores a text durably as a blob. Throws `StoreFault` if it cannot be written. */
  putText(text: string): Digest;
  read<T>(schema: z.ZodType<T>, cell: unknown, what: string): T;
  /** Any plain data. */
  readPlain(cell: unknown, what: string): Json;
}

/** A failure inside a statement, thrown up to the transaction. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  readonly envelope: ErrorEnvelope;

  constructor(envelope: ErrorEnvelope) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

/** Stored data is not what was written. */
export class StoreDamage extends Error {
  override readonly name = 'StoreDamage';
}

/** Converts between a blob name and its cell. */
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
      // A UTF-16 unit takes at most three bytes: short texts need no counting.
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

/** Matches JSON that may not be plain data: lone surrogates and unbounded numbers. Excessive depth needs a long text. */
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

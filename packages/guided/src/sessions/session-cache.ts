/**
 * What a session comes to, kept beside its journal so that many sessions can be listed without reading them all.
 *
 * C1  Never truth: nothing is executed by it, and deleting it changes no answer.
 * C2  It is of the manifest that its digest names. One of another manifest, version or shape is made again.
 */
import { nodeHasher } from '@signalbox/journal';
import {
  canonicalJson,
  type Digest,
  digest,
  type Json,
  ok,
  parsedJson,
  type Result,
  type SessionId,
  utf8Bytes,
} from '@signalbox/model';
import * as z from 'zod';
import { guardIo, type SessionStores } from './session-stores.ts';

const FILE = 'summary.json';
const VERSION = 1;

/** The value for the manifest as it is now, from the cache or made and kept. What is not lasting is not kept. */
export function cached<T extends Json, E>(
  { disk, directoryOf }: SessionStores,
  sessionId: SessionId,
  schema: z.ZodType<T>,
  make: () => Result<{ readonly value: T; readonly isLasting: boolean }, E>,
): Result<T, E> {
  const directory = directoryOf(sessionId);
  const bytes = disk.read(`${directory}/manifest.jsonl`);
  const manifest = typeof bytes === 'object' ? nodeHasher(bytes) : undefined;
  const known = manifest && read(disk, `${directory}/cache/${FILE}`, manifest, schema);
  if (known !== undefined) return ok(known);
  const made = make();
  if (!made.ok) return made;
  const { value, isLasting } = made.value;
  if (manifest !== undefined && isLasting) {
    // A data directory that cannot be written can be looked at.
    guardIo('keeping a summary', () => {
      disk.makeDirectory(`${directory}/cache`);
      const temporary = `${directory}/cache/.${FILE}.${process.pid}.tmp`;
      const file = disk.open(temporary, 'create');
      try {
        file.write(utf8Bytes(canonicalJson({ v: VERSION, manifest, value })));
      } finally {
        file.close();
      }
      // Not synced: one that is torn after a power loss fails its check and is made again.
      disk.rename(temporary, `${directory}/cache/${FILE}`);
    });
  }
  return ok(value);
}

function read<T extends Json>(
  disk: SessionStores['disk'],
  file: string,
  manifest: Digest,
  schema: z.ZodType<T>,
): T | undefined {
  const bytes = disk.read(file);
  if (typeof bytes !== 'object') return undefined;
  const envelope = z.strictObject({ v: z.literal(VERSION), manifest: digest, value: schema });
  const found = envelope.safeParse(parsedJson(Buffer.from(bytes).toString('utf8')));
  return found.success && found.data.manifest === manifest ? found.data.value : undefined;
}

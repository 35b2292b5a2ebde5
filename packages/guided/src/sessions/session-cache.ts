/**
 * The summary of a session, stored beside its journal so that sessions can be listed without reading them all.
 *
 * C1  Never the truth: nothing is executed based on it, and deleting it changes no answer.
 * C2  It belongs to the manifest named by its digest and to the segments as they were: one of another manifest, version or shape, or of files
 *     that were touched since, is rebuilt. So damage done to a segment shows, although the manifest is the same.
 */
import { lstatSync, readdirSync } from 'node:fs';
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
const VERSION = 2;

/** The value for the current manifest, from the cache or rebuilt and cached. Temporary values are not cached. */
export function cached<T extends Json, E>(
  { disk, directoryOf }: SessionStores,
  sessionId: SessionId,
  schema: z.ZodType<T>,
  make: () => Result<{ readonly value: T; readonly isLasting: boolean }, E>,
): Result<T, E> {
  const directory = directoryOf(sessionId);
  const bytes = disk.read(`${directory}/manifest.jsonl`);
  const manifest =
    typeof bytes === 'object' ? nodeHasher(`${nodeHasher(bytes)} ${segmentsMark(directory)}`) : undefined;
  const known = manifest && read(disk, `${directory}/cache/${FILE}`, manifest, schema);
  if (known !== undefined) return ok(known);
  const made = make();
  if (!made.ok) return made;
  const { value, isLasting } = made.value;
  if (manifest !== undefined && isLasting) {
    // A read-only data directory can still be viewed.
    guardIo('keeping a summary', () => {
      disk.makeDirectory(`${directory}/cache`);
      const temporary = `${directory}/cache/.${FILE}.${process.pid}.tmp`;
      const file = disk.open(temporary, 'create');
      try {
        file.write(utf8Bytes(canonicalJson({ v: VERSION, manifest, value })));
      } finally {
        file.close();
      }
      // Not synced: a file torn by a power loss fails its check and is rebuilt.
      disk.rename(temporary, `${directory}/cache/${FILE}`);
    });
  }
  return ok(value);
}

/** Changes with every change of a segment: sizes and times of change, which a program cannot set back. */
export function segmentsMark(directory: string): string {
  const folder = `${directory}/events`;
  try {
    return readdirSync(folder)
      .sort()
      .map(name => {
        const file = lstatSync(`${folder}/${name}`, { throwIfNoEntry: false });
        return `${name} ${file?.size} ${file?.ctimeMs}`;
      })
      .join('\n');
  } catch {
    // Nothing there yet, or no rights: reading the journal says which.
    return '';
  }
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

import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { type Digest, digestHex, err, ok } from '@signalbox/model';
import {
  ContentFault,
  type ContentStore,
  contentCorrupt,
  contentMissing,
  digestOfBytes,
  streamDigest,
} from './content-store.ts';
import { type HostFiles, nodeHostFiles, syncAll } from './host-files.ts';

/**
 * Contents in `<directory>/<aa>/<sha256>`.
 *
 * Invariant: a name under `<aa>/` is complete and synced. New contents wait in a directory of this opening until `sync`
 * has synced and renamed all of them together; leftovers of a dead process are never read and are removed.
 */
export function openHostContentStore(directory: string, files: HostFiles = nodeHostFiles): ContentStore {
  const incoming = `${directory}/${INCOMING}${process.pid}-${randomUUID()}`;
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  removeAbandoned(directory);
  const waiting = new Map<Digest, string>();
  let made = 0;
  let syncing: Promise<void> = Promise.resolve();

  const placeOf = (digest: Digest) => `${directory}/${digestHex(digest).slice(0, 2)}/${digestHex(digest)}`;
  const isKept = (digest: Digest) => {
    if (waiting.has(digest)) return true;
    if (!fs.existsSync(placeOf(digest))) return false;
    // Collection spares recent contents, so a content that is referenced again must not look old.
    const now = files.now() / 1000;
    fs.utimesSync(placeOf(digest), now, now);
    return true;
  };
  const newFile = () => {
    if (!fs.existsSync(incoming)) fs.mkdirSync(incoming, { mode: 0o700 });
    return `${incoming}/${made++}`;
  };

  return {
    async put(content) {
      const digest = digestOfBytes(content);
      if (isKept(digest)) return digest;
      const path = newFile();
      const writer = files.create(path, 0o600);
      try {
        writer.write(content);
      } finally {
        writer.close();
      }
      waiting.set(digest, path);
      return digest;
    },
    async putStream(chunks) {
      const path = newFile();
      const running = streamDigest();
      const writer = files.create(path, 0o600);
      try {
        for await (const chunk of chunks) {
          running.update(chunk);
          writer.write(chunk);
        }
      } catch (cause) {
        files.unlink(path);
        throw cause;
      } finally {
        writer.close();
      }
      const digest = running.digest();
      if (isKept(digest)) files.unlink(path);
      else waiting.set(digest, path);
      return digest;
    },
    sync(signal) {
      syncing = syncing
        .catch(() => {})
        .then(async () => {
          const batch = [...waiting];
          await syncAll(
            files,
            batch.map(([, path]) => path),
            signal,
          );
          const touched = new Set<string>();
          for (const [digest, path] of batch) {
            const place = placeOf(digest);
            const parent = place.slice(0, place.lastIndexOf('/'));
            if (!fs.existsSync(parent)) {
              files.mkdir(parent, 0o700);
              touched.add(directory);
            }
            files.rename(path, place);
            touched.add(parent);
            waiting.delete(digest);
          }
          await syncAll(files, [...touched]);
        });
      return syncing;
    },
    async get(digest) {
      const path = waiting.get(digest) ?? placeOf(digest);
      const content = await fs.promises.readFile(path).catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === 'ENOENT') return undefined;
        throw cause;
      });
      if (content === undefined) return err(contentMissing(digest));
      return digestOfBytes(content) === digest ? ok(content) : err(contentCorrupt(digest));
    },
    async *read(digest) {
      const path = waiting.get(digest) ?? placeOf(digest);
      const stat = fs.statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) throw new ContentFault(contentMissing(digest));
      if (stat.size <= ONE_CHUNK) {
        const content = fs.readFileSync(path);
        if (digestOfBytes(content) !== digest) throw new ContentFault(contentCorrupt(digest));
        yield content;
        return;
      }
      const running = streamDigest();
      for await (const chunk of fs.createReadStream(path, { highWaterMark: ONE_CHUNK })) {
        running.update(chunk as Uint8Array);
        yield chunk as Uint8Array;
      }
      if (running.digest() !== digest) throw new ContentFault(contentCorrupt(digest));
    },
  };
}

const INCOMING = 'incoming-';
const ONE_CHUNK = 1 << 20;

/** Removes leftovers of dead processes. */
function removeAbandoned(directory: string): void {
  for (const name of fs.readdirSync(directory)) {
    if (!name.startsWith(INCOMING) || isAlive(Number.parseInt(name.slice(INCOMING.length), 10))) continue;
    fs.rmSync(`${directory}/${name}`, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

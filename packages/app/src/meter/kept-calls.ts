import {
  type Digest,
  digest,
  type Json,
  type JsonObject,
  parsedJson,
  type RunId,
  type SecretFilter,
} from '@signalbox/model';
import type { Blobs } from '@signalbox/runs';
import * as z from 'zod';
import { readConfigPart } from '../settings/config-file.ts';

/** `meter` of the data directory's configuration. */
export const meterPart = z.strictObject({
  /** Whether the exact prompts and answers of calls are kept; they are by default. */
  prompts: z.boolean().optional(),
  /** Bytes of them that are kept of one run. */
  promptBytes: z.int().nonnegative().optional(),
});

const DEFAULT_BYTES = 64 * 1024 * 1024;
/** Bytes of an answer that are kept. */
export const KEPT_ANSWER = 1_048_576;

/**
 * What really went to a model and came back, by content (T5).
 *
 * 1. The members of the lists of a request (messages, tools) are blobs of their own: what the next call repeats is not written again (T4), and what
 *    changed between two calls is a comparison of names.
 * 2. Secrets are taken out before anything is written.
 * 3. Nothing waits for it but the end of the answer, and nothing fails because of it.
 */
export interface KeptCalls {
  request(run: RunId, body: JsonObject): Promise<Digest | undefined>;
  answer(run: RunId, text: string): Promise<Digest | undefined>;
}

const LISTS = ['messages', 'input', 'contents', 'tools', 'system'] as const;

const manifest = z.strictObject({
  v: z.literal(1),
  /** The request without its lists. */
  body: z.record(z.string(), z.json()),
  lists: z.record(z.string(), z.array(digest)),
});
export type RequestManifest = z.infer<typeof manifest>;

export function createKeptCalls(
  blobs: Blobs,
  filter: Pick<SecretFilter, 'text' | 'data'>,
  dataDirectory: string,
): KeptCalls | undefined {
  const read = readConfigPart(dataDirectory, 'meter', meterPart);
  const { prompts = true, promptBytes = DEFAULT_BYTES } = (read.ok ? read.value : undefined) ?? {};
  if (!prompts) return undefined;
  /** What was written of each run. */
  const written = new Map<RunId, { readonly names: Set<Digest>; bytes: number }>();

  async function put(run: RunId, texts: readonly string[]): Promise<readonly Digest[] | undefined> {
    const known = written.get(run) ?? { names: new Set<Digest>(), bytes: 0 };
    written.set(run, known);
    if (known.bytes >= promptBytes) return undefined;
    const contents = texts.map(text => Buffer.from(text));
    const stored = await blobs.put(contents);
    if (!stored.ok) return undefined;
    for (const [index, name] of stored.value.entries()) {
      if (!known.names.has(name)) known.bytes += contents[index]?.length ?? 0;
      known.names.add(name);
    }
    return stored.value;
  }

  return {
    async request(run, given) {
      const clean = filter.data(given) as JsonObject;
      const lists = LISTS.flatMap(name => {
        const list = clean[name];
        return Array.isArray(list) ? [[name, list as readonly Json[]] as const] : [];
      });
      const names = await put(
        run,
        lists.flatMap(([, list]) => list.map(one => JSON.stringify(one))),
      );
      if (names === undefined) return undefined;
      let at = 0;
      const named = lists.map(([name, list]) => {
        const own = names.slice(at, at + list.length);
        at += list.length;
        return [name, own] as const;
      });
      const isList = new Set<string>(lists.map(([name]) => name));
      const body = Object.fromEntries(Object.entries(clean).filter(([name]) => !isList.has(name)));
      const [kept] = (await put(run, [JSON.stringify({ v: 1, body, lists: Object.fromEntries(named) })])) ?? [];
      return kept;
    },
    async answer(run, text) {
      const [kept] = (text === '' ? undefined : await put(run, [filter.text(text)])) ?? [];
      return kept;
    },
  };
}

/** A request as it was kept; undefined if it is not there any more. */
export async function readRequest(blobs: Pick<Blobs, 'get'>, name: Digest): Promise<RequestManifest | undefined> {
  const stored = await blobs.get(name);
  const read = stored.ok ? manifest.safeParse(parsedJson(Buffer.from(stored.value).toString('utf8'))) : undefined;
  return read?.success === true ? read.data : undefined;
}

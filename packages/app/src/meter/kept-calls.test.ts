import * as fs from 'node:fs';
import * as os from 'node:os';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { createSecretFilter, type Digest, knownSecretOf, ok, portableHasher, type RunId } from '@signalbox/model';
import type { Blobs } from '@signalbox/runs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeptCalls } from './kept-calls.ts';
import { runCall } from './run-call.ts';

const run = 'run' as RunId;
const mac = (text: string) => portableHasher(`key ${text}`).slice(7);
const filter = createSecretFilter({ known: [knownSecretOf('DOOR', 'open-sesame-42', mac)], mac });

function memoryBlobs() {
  const stored = new Map<Digest, Uint8Array>();
  let writes = 0;
  const blobs: Blobs = {
    async put(contents) {
      const names = contents.map(content => {
        const name = nodeHasher(content) as Digest;
        if (!stored.has(name)) writes++;
        stored.set(name, content);
        return name;
      });
      return ok(names);
    },
    async get(name) {
      return ok(stored.get(name) ?? new Uint8Array());
    },
  };
  const all = () => [...stored.values()].map(one => Buffer.from(one).toString('utf8')).join('\n');
  return { blobs, all, writes: () => writes };
}

function directory(config?: object): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kept-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  if (config !== undefined) fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  return folder;
}

const said = (role: string, content: string) => ({ role, content });
const first = { model: 'm', tools: [{ name: 't' }], messages: [said('user', 'one')] };
const second = { ...first, messages: [...first.messages, said('assistant', 'two'), said('user', 'open-sesame-42')] };

describe('the contents of calls', () => {
  it('[A1108] are kept once each, without secrets, and say what changed since the call before', async () => {
    const { blobs, all, writes } = memoryBlobs();
    const kept = createKeptCalls(blobs, filter, directory());
    const [a, b] = [await kept?.request(run, first), await kept?.request(run, second)];
    // A tool, a message and the request; then two messages and the request.
    expect([writes(), all().includes('open-sesame')]).toEqual([6, false]);
    const answer = await kept?.answer(run, 'it is open-sesame-42');
    const of = { type: 'model.answered', node: 'a', task: 't', provider: 'p', model: 'm', outcome: 'answered' };
    const events = [
      { event: { ...of, seq: 0, call: '1', request: a } },
      { event: { ...of, seq: 1, call: '2', request: b, answer } },
    ];
    const reader = { events: async () => events as never };
    const told = await runCall(reader, blobs, run, '2');
    const hidden = said('user', '[redacted: DOOR]');
    expect(told).toMatchObject({
      ok: true,
      value: {
        request: { ...first, messages: [said('user', 'one'), said('assistant', 'two'), hidden] },
        answer: 'it is [redacted: DOOR]',
        since: {
          ...{ call: '1', same: 2, removed: [] },
          added: [
            { list: 'messages', value: said('assistant', 'two') },
            { list: 'messages', value: hidden },
          ],
        },
      },
    });
    expect((await runCall(reader, blobs, run, '3')).ok).toBe(false);
  });

  it('[A1109] are not kept if `meter.prompts` is off, or once a run has its `meter.promptBytes`', async () => {
    const { blobs, writes } = memoryBlobs();
    expect(createKeptCalls(blobs, filter, directory({ meter: { prompts: false } }))).toBeUndefined();
    const kept = createKeptCalls(blobs, filter, directory({ meter: { promptBytes: 100 } }));
    expect(await kept?.request(run, first)).toBeDefined();
    const before = writes();
    const more = [await kept?.answer(run, 'more'), await kept?.request(run, second)];
    expect([more, writes()]).toEqual([[undefined, undefined], before]);
    expect(await kept?.request('other' as RunId, first)).toBeDefined();
  });
});

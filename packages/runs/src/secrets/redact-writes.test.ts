import { createSecretFilter, type Digest, knownSecretOf, portableHasher, type RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { draftArtifact } from '../artifacts/artifact-draft.ts';
import type { Guard, WriteSet } from '../commit.ts';
import type { RecordBody } from '../log/record.ts';
import { ownWords } from './own-words.ts';
import { redactBody, redactingCommit, redactWrites } from './redact-writes.ts';

const mac = (text: string) => portableHasher(`key ${text}`).slice(7);
const SECRET = ['open', 'sesame', '42'].join('-');
const filter = createSecretFilter({ known: [knownSecretOf('DOOR', SECRET, mac)], mac });
const MARK = '[redacted: DOOR]';
const at = '2026-11-16T17:00:00.000Z' as WriteSet['at'];
const source = {
  root: `/home/${SECRET}`,
  entry: 'plan.tsx',
  files: [],
  packages: [],
  engine: '1',
} as const;

describe('what is committed', () => {
  it('[L85] holds no secret, in rows and in events', async () => {
    const taken: WriteSet[] = [];
    const commit = redactingCommit(
      {
        async commit(writes) {
          taken.push(writes);
          return { ok: true, value: {} as never };
        },
      },
      filter,
      portableHasher,
    );
    const writes = {
      at,
      intervals: [
        { space: 'state', key: 'door', fromFrame: 1, change: { kind: 'set', value: { [SECRET]: [SECRET] } } },
      ],
      artifacts: [{ name: SECRET, content: `it is ${SECRET}`, digest: 'sha256:0' as Digest, bytes: 3 }],
      events: [{ type: 'handler.failed', error: `wrong: ${SECRET}` }],
    } as unknown as WriteSet;
    await commit.commit(writes, { run: 'r' as RunId, version: 'any' } as Guard);
    const content = `it is ${MARK}`;
    expect(taken).toEqual([
      {
        at,
        intervals: [{ space: 'state', key: 'door', fromFrame: 1, change: { kind: 'set', value: { [MARK]: [MARK] } } }],
        artifacts: [{ name: MARK, content, digest: portableHasher(content), bytes: content.length }],
        events: [{ type: 'handler.failed', error: `wrong: ${MARK}` }],
      },
    ]);
    const clean = { at, events: [] } as WriteSet;
    expect(redactWrites(clean, filter, portableHasher)).toBe(clean);
  });

  it('[L86] says where a run works', () => {
    const places = { workingDirectory: `/home/${SECRET}`, source };
    const made = { at, run: { kind: 'create', run: { ...places, name: SECRET } } } as unknown as WriteSet;
    expect(redactWrites(made, filter, portableHasher)).toEqual({
      at,
      run: { kind: 'create', run: { ...places, name: MARK } },
    });
    const changed = { at, run: { kind: 'change', change: { source, stopReason: SECRET } } } as unknown as WriteSet;
    expect(redactWrites(changed, filter, portableHasher)).toEqual({
      at,
      run: { kind: 'change', change: { source, stopReason: MARK } },
    });
  });

  it('[L87] holds no secret of a record that was made elsewhere', () => {
    const body = (value: unknown) => value as RecordBody;
    const run = { name: SECRET, workingDirectory: `/home/${SECRET}`, source };
    const artifact = { content: SECRET, digest: 'sha256:0', bytes: 1 };
    const given = body({ salt: 's', run: { kind: 'create', run }, artifacts: [artifact] });
    expect(redactBody(given, filter, portableHasher)).toEqual({
      salt: 's',
      run: { kind: 'create', run: { ...run, name: MARK } },
      artifacts: [{ content: MARK, digest: portableHasher(MARK), bytes: MARK.length }],
    });
    const other = body({ salt: 's', events: [{ type: 'x', by: 'me' }] });
    expect(redactBody(other, filter, portableHasher)).toBe(other);
  });

  it('[L88] has words of its own', () => {
    const words = ownWords();
    for (const word of ['succeeded', 'idempotencyKey', 'task.started', 'proposal', 'command_exec'])
      expect(words).toContain(word);
  });

  it('[L89] has no secret in an artifact before it becomes a blob', () => {
    const table = { kind: 'table', name: SECRET, columns: ['a'], rows: [{ a: SECRET }] } as const;
    expect(draftArtifact(table, filter)).toEqual({
      ok: true,
      value: {
        kind: 'table',
        name: MARK,
        mimeType: 'application/json',
        content: JSON.stringify({ columns: ['a'], rows: [{ a: MARK }] }),
      },
    });
    const picture = new TextEncoder().encode(`<svg xmlns="http://www.w3.org/2000/svg"><text>${SECRET}</text></svg>`);
    const drawn = draftArtifact({ kind: 'image', name: 'door', data: picture }, filter);
    expect(drawn.ok && new TextDecoder().decode(drawn.value.content as Uint8Array)).toContain(`<text>${MARK}</text>`);
  });
});

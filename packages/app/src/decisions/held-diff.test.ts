import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ApprovalId, Json } from '@signalbox/model';
import { openHostContentStore } from '@signalbox/state';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { heldDiff } from './held-diff.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'held-diff-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('changes that wait for a person', () => {
  it('[A328] are shown before the choice: the command’s version against what is there now', async () => {
    const directory = path.join(folder, 'project');
    mkdirSync(path.join(directory, 'd'), { recursive: true });
    writeFileSync(path.join(directory, 'f'), 'one\nmine\n');
    writeFileSync(path.join(directory, 'gone'), 'kept by me\n');
    const store = openHostContentStore(path.join(folder, 'blobs'));
    const digest = await store.put(Buffer.from('one\ntwo\n'));
    await store.sync();
    const conflicts = [
      { path: 'f', theirs: 'changed', yours: null, command: { digest, size: 8 } },
      { path: 'gone', theirs: 'changed', yours: null, command: null },
      { path: 'd', theirs: 'created', yours: {}, command: { digest, size: 8 } },
    ];
    const decision = {
      id: 'D' as ApprovalId,
      call: 'c/1:changes:0',
      proposal: { context: { directory, conflicts } } as Json,
    };
    const shown = await heldDiff(folder, decision);
    const text = shown.ok ? shown.value : shown.error.message;
    expect(text).toContain('--- a/now/f\n+++ b/command/f\n@@ -1,2 +1,2 @@\n one\n-mine\n+two');
    expect(text).toContain('-kept by me');
    expect(text).toContain('d: created; not shown');
    expect(await heldDiff(folder, { ...decision, call: 'c/1' })).toMatchObject({ error: { code: 'command/usage' } });
  });
});

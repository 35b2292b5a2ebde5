import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ApprovalId, Json } from '@signalbox/model';
import { type HeldChanges, openHostContentStore } from '@signalbox/state';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diffOfHeld, heldDiff } from './held-diff.ts';

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

  it('[A851] are shown with the modes of files and with links, new ones and changed ones', async () => {
    const [root, upper] = [path.join(folder, 'project'), path.join(folder, 'L', 'upper')];
    for (const directory of [root, upper]) mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(upper, 'run.sh'), 'echo\n', { mode: 0o755 });
    writeFileSync(path.join(upper, 'plain'), 'plain\n');
    symlinkSync('/elsewhere', path.join(upper, 'link'));
    for (const side of [root, upper]) writeFileSync(path.join(side, 'same'), 'same\n');
    chmodSync(path.join(upper, 'same'), 0o755);
    symlinkSync('old', path.join(root, 'moved'));
    symlinkSync('new', path.join(upper, 'moved'));
    const changes = ['run.sh', 'plain', 'link', 'same', 'moved'].map(name => ({ op: 'put', path: name }));
    const text = await diffOfHeld(folder, { layer: 'L', root, changes } as unknown as HeldChanges);
    const modes = text
      .split('\n')
      .filter(line => /^(?:diff|new file|old mode|new mode|index .* 1|[+-]\/|[+-](?:old|new)$)/.test(line));
    expect(modes.map(line => line.replace(/^index \S+ /, 'index '))).toEqual([
      'diff --git link link',
      'new file mode 120000',
      '+/elsewhere',
      'diff --git moved moved',
      'index 120000',
      '-old',
      '+new',
      'diff --git plain plain',
      'new file mode 100644',
      'diff --git run.sh run.sh',
      'new file mode 100755',
      'diff --git same same',
      'old mode 100644',
      'new mode 100755',
    ]);
  });
});

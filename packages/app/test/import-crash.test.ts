import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { importRun } from '../src/bundles/import-run.ts';
import { openOwnedStore } from '../src/host/owned-store.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { temporaryFolder } from './temporary-folder.ts';

const soak = process.env.SIGNALBOX_SOAK === '1';
const child = childScript(import.meta.dirname, 'support/import-child.ts');
const bundle = fileURLToPath(new URL('../../../spec/histories/sub-plans.bundle', import.meta.url));

it('[A65] a process that is killed in the middle of an import leaves nothing, or the whole run', async () => {
  const machine = thisMachine();
  const moments = soak ? [...Array.from({ length: 40 }, (_, index) => index), 100_000] : [0, 5, 10, 100_000];
  const found: number[] = [];
  for (const rows of moments) {
    const data = path.join(temporaryFolder(), 'data');
    const died = spawnSync(process.execPath, [child, data, bundle, String(rows)], { encoding: 'utf8' });
    expect([died.signal, died.stderr]).toEqual(['SIGKILL', '']);
    const owned = openOwnedStore(data, machine);
    if (!owned.ok) throw new Error(owned.error.message);
    const { store } = owned.value;
    const kept = (await store.runs()).items;
    found.push(kept.length);
    for (const { id } of kept) expect(await verifyRun(data, id)).toMatchObject({ ok: true, value: { ok: true } });
    const again = await importRun({ store, dataDirectory: data, machine, by: 'tester' }, bundle);
    expect(again).toMatchObject({ ok: true, value: { runs: 5 } });
    expect(readdirSync(path.join(data, 'imports'))).toEqual([]);
    expect((await store.runs()).items).toHaveLength(kept.length + 5);
    owned.value.close();
  }
  // Nothing until the last row is written, and all of it from then on.
  const written = found.indexOf(5);
  expect(written).toBeGreaterThan(2);
  expect(found).toEqual(moments.map((_, index) => (index < written ? 0 : 5)));
});

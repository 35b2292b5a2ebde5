// Imports a bundle, and kills its own process on the way.
//   node import-child.ts DATA FILE ROWS
// After so many rows have gone into the store, or at the end of the import if there are fewer.
import { Bug } from '@signalbox/model';
import type { ArchiveRow } from '@signalbox/runs';
import { killThisProcess } from '@signalbox/testkit';
import { importRun } from '../../src/bundles/import-run.ts';
import { openOwnedStore } from '../../src/host/owned-store.ts';
import { thisMachine } from '../../src/machine.ts';

const [dataDirectory = '', file = '', rows = '0'] = process.argv.slice(2);
const machine = thisMachine();
const owned = openOwnedStore(dataDirectory, machine);
if (!owned.ok) throw new Bug(owned.error.message);
const { store } = owned.value;

function* dying(given: Iterable<ArchiveRow>): Iterable<ArchiveRow> {
  let count = 0;
  for (const row of given) {
    if (count === Number(rows)) killThisProcess();
    count += 1;
    yield row;
  }
}

await importRun(
  { store: { ...store, restore: given => store.restore(dying(given)) }, dataDirectory, machine, by: 'child' },
  file,
);
killThisProcess();

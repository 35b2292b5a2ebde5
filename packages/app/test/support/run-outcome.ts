import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type Json, type RunId } from '@signalbox/model';
import { openStore, type Store } from '@signalbox/store';

/** Everything that must be the same however often the process died. */
export async function outcome(folder: string) {
  const opened = openStore({ path: path.join(folder, 'data', 'db.sqlite') });
  if (!opened.ok) throw new Bug(opened.error.message);
  const store = opened.value;
  const records = (await store.runs()).items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const runs = await Promise.all(records.map(async ({ id }) => pictureOf(store, id)));
  store.close();
  return runs;
}

async function pictureOf(store: Store, run: RunId) {
  const record = await store.run(run);
  const results = (await store.tasks(run)).map(({ node, iteration, status, result }) =>
    JSON.stringify([node, iteration, status, result]),
  );
  const changes = new Map<string, Json[]>();
  for (let from = {}; ; ) {
    const page = await store.transitions(run, from);
    for (const { key, old, new: now, trigger, handler } of page.items) {
      // Siblings end in any order; what each of them did is the same.
      const isShared = key === 'parallel';
      const line = isShared
        ? [trigger ?? null, handler ?? null]
        : [old ?? null, now ?? null, trigger ?? null, handler ?? null];
      changes.set(key, [...(changes.get(key) ?? []), line]);
    }
    if (page.next === undefined) break;
    from = { from: page.next };
  }
  return {
    name: record?.name,
    status: record?.status,
    output: sorted(record?.output ?? null),
    results: results.sort(),
    changes: Object.fromEntries([...changes].sort()),
  };
}

function sorted(value: Json): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort())
      : part,
  );
}

/** Work that was done, or a handler that was run, after the commit that made it durable. A handler that failed is run again. */
export function doneAgain(folder: string): readonly string[] {
  const over = new Set<string>();
  const unhandled = new Set<string>();
  const places = new Map<string, string>();
  const counted = new Set<string>();
  const again: string[] = [];
  for (const line of readFileSync(path.join(folder, 'side'), 'utf8').trim().split('\n')) {
    const [what, node, second = '', third, fourth = ''] = line.split(' ');
    const place = `${node} ${second}`;
    if (what === 'committed') {
      over.add(place);
      places.set(fourth, place);
    }
    if (what === 'retried') over.add(`${place} ${third}`);
    if (what === 'ran' && (over.has(place) || over.has(`${place} ${third}`))) again.push(line);
    if (what === 'handled' && over.has(place) && !unhandled.has(place)) again.push(line);
    if (what === 'unhandled') unhandled.add(places.get(second) ?? '');
    if (what === 'counted') {
      unhandled.delete(places.get(second) ?? '');
      if (counted.has(line)) again.push(line);
      counted.add(line);
    }
  }
  return again;
}

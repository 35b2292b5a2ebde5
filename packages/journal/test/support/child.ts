/** A process for tests to kill. Its first argument says what it does; the others are the home and what that needs. */
import { writeSync } from 'node:fs';
import { hostDisk, sqliteLocks } from '@signalbox/journal';
import { Bug } from '@signalbox/model';
import { factDraft, killThisProcess, openFacts, type StopPoint, stoppingDisk } from '@signalbox/testkit';
import { appendPlan } from './plan.ts';

const [role, home = '', ...rest] = process.argv.slice(2);
const place = { home, locks: sqliteLocks };

const roles: Record<string, () => Promise<void>> = {
  /** Appends the plan and dies at one operation of it. */
  async dying() {
    const [operation, when] = rest;
    const point: StopPoint = { operation: Number(operation), when: when === 'after' ? 'after' : 'before' };
    await appendPlan(stoppingDisk(hostDisk, point, killThisProcess), place);
  },

  /** Appends numbered facts from where the journal ends, one line on stdout for each that is acknowledged. */
  async counting() {
    const { journal } = openFacts({ disk: hostDisk, ...place });
    for (;;) {
      const appended = await journal.withLock((witness, view) =>
        journal.append(witness, { events: [factDraft(view.length), factDraft(view.length + 1)] }),
      );
      if (!appended.ok) throw new Bug(appended.error.message);
      for (const event of appended.value.events) writeSync(1, `${event.data.text}\n`);
    }
  },

  /** Appends its share of facts among other processes, and says how often it was told to try again. */
  async sharing() {
    const [first, count] = rest.map(Number);
    const { journal } = openFacts({ disk: hostDisk, ...place });
    let locked = 0;
    for (let number = first ?? 0; number < (first ?? 0) + (count ?? 0); ) {
      const appended = await journal.withLock(witness => journal.append(witness, { events: [factDraft(number)] }));
      if (appended.ok) number += 1;
      else if (appended.error.code === 'SESSION_LOCKED') locked += 1;
      else throw new Bug(appended.error.message);
    }
    writeSync(1, `${JSON.stringify({ locked })}\n`);
  },

  /** Takes the lock, says so, and keeps it. */
  async holding() {
    const { journal } = openFacts({ disk: hostDisk, ...place });
    await journal.withLock(async () => {
      writeSync(1, 'held\n');
      setInterval(() => {}, 1_000);
      return await new Promise<never>(() => {});
    });
  },
};

await roles[role ?? '']?.();

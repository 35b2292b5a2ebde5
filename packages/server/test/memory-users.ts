import type { User, Users } from '@signalbox/app';
import type { SettingsDesk } from '@signalbox/app/runs';
import { err, failure, ok, timestamp } from '@signalbox/model';

/** Users without a disk, by their tokens. */
export function memoryUsers(tokens: Readonly<Record<string, string>> = {}): Users {
  const known = new Map(Object.entries(tokens));
  const addedAt = timestamp.parse('2026-01-01T00:00:00.000Z');
  const refused = (code: 'user/taken' | 'user/unknown', name: string) =>
    err(failure(code, { message: `The user ${name}.`, suggestion: 'Take another.' }));
  const users = (): readonly User[] => [...known.values()].toSorted().map(name => ({ name, addedAt }));
  return {
    list: () => ok(users()),
    add(name) {
      if (users().some(user => user.name === name)) return refused('user/taken', name);
      const token = `token-of-${name}`;
      known.set(token, name);
      return ok({ user: { name, addedAt }, token });
    },
    remove(name) {
      const found = [...known].find(([, other]) => other === name);
      if (found === undefined) return refused('user/unknown', name);
      known.delete(found[0]);
      return ok({ name, addedAt });
    },
    whoIs: token => known.get(token),
  };
}

/** A server that is set to nothing. */
export const noSettings: SettingsDesk = {
  read: async () => ({
    startedAt: timestamp.parse('2026-01-01T00:00:00.000Z'),
    sources: [],
    items: [],
    needsRestart: false,
    providers: [],
    tools: [],
  }),
};

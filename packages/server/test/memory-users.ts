import type { TokenHolder, User, Users } from '@signalbox/app';
import type { AgentJobs } from '@signalbox/app/agents';
import { createFleetDesk, type FleetDesk } from '@signalbox/app/fleet';
import { type SettingsDesk, thisMachine } from '@signalbox/app/host';
import { emptyFleet } from '@signalbox/fleet';
import { type Clock, deriveId, err, failure, ok, timestamp } from '@signalbox/model';

type Given = string | Pick<User, 'name' | 'role' | 'expiresAt'>;

/** Users without a disk, by their tokens; one that is given as a name alone is an operator. */
export function memoryUsers(
  tokens: Readonly<Record<string, Given>> = {},
  clock: Clock = { now: () => Date.now() },
): Users {
  const addedAt = timestamp.parse('2026-01-01T00:00:00.000Z');
  const known = new Map(
    Object.entries(tokens).map(([token, given]): [string, User] => [
      token,
      typeof given === 'string' ? { name: given, role: 'operator', addedAt } : { ...given, addedAt },
    ]),
  );
  let made = 0;
  const refused = (code: 'user/taken' | 'user/unknown', name: string) =>
    err(failure(code, { message: `The user ${name}.`, suggestion: 'Take another.' }));
  const tokenOf = (name: string) => [...known].find(([, user]) => user.name === name)?.[0];
  const isExpired = ({ expiresAt }: User) => expiresAt !== undefined && Date.parse(expiresAt) <= clock.now();
  const holderOf = (token: string): TokenHolder | undefined => {
    const user = known.get(token);
    return user && { ...user, tokenId: token, isExpired: isExpired(user) };
  };
  return {
    list: () => ok([...known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))),
    add(name, { role = 'viewer', expiresAt } = {}) {
      if (tokenOf(name) !== undefined) return refused('user/taken', name);
      const token = `token-of-${name}`;
      const user = { name, role, addedAt, ...(expiresAt !== undefined && { expiresAt }) };
      known.set(token, user);
      return ok({ user, token });
    },
    rotate(name, { expiresAt } = {}) {
      const old = tokenOf(name);
      const before = old === undefined ? undefined : known.get(old);
      if (old === undefined || before === undefined) return refused('user/unknown', name);
      made += 1;
      const token = `token-${made}-of-${name}`;
      const user = { ...before, rotatedAt: addedAt, ...(expiresAt !== undefined && { expiresAt }) };
      known.delete(old);
      known.set(token, user);
      return ok({ user, token });
    },
    remove(name) {
      const token = tokenOf(name);
      const user = token === undefined ? undefined : known.get(token);
      if (token === undefined || user === undefined) return refused('user/unknown', name);
      known.delete(token);
      return ok(user);
    },
    whoIs: holderOf,
    holder: name => holderOf(tokenOf(name) ?? ''),
    counts({ tokenId }) {
      const user = known.get(tokenId);
      return user !== undefined && !isExpired(user);
    },
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

/** A fleet without agents. */
export const noFleet: FleetDesk = createFleetDesk(
  {
    project: deriveId('no-project'),
    state: () => emptyFleet,
    happen: async () => ok([]),
    subscribe: () => () => {},
    onPublished: () => () => {},
  },
  {
    projects: () => [],
    project: () => undefined,
    projectRecords: () => [],
    projectFacts: () => [],
    things: () => [],
    keptState: () => undefined,
  },
  thisMachine(),
);

/** A server that knows no agents. */
export const noAgents: AgentJobs = {
  list: () => ok([]),
  add: unknownAgent,
  check: unknownAgent,
  cancel: async name => unknownAgent(name),
  remove: unknownAgent,
  close: async () => {},
};

function unknownAgent(name: string) {
  return err(failure('agent/unknown', { message: `There is no agent ${name}.`, suggestion: 'There are none.' }));
}

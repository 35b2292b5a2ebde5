import type { Answer } from '@signalbox/client';
import { type AddedUser, timestamp, type UserRole, userRole, type WireUser } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Confirm } from '../shell/confirm.tsx';
import { CopyButton } from '../shell/copy-button.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';

const mayDo: Readonly<Record<UserRole, string>> = {
  viewer: 'reads',
  approver: 'also answers decisions',
  operator: 'also starts, stops and edits',
  owner: 'also manages users',
  agent: 'walks guided workflows, nothing else',
};
const lifetimes = { never: undefined, '1 day': 1, '30 days': 30, '90 days': 90 } as const;
type Lifetime = keyof typeof lifetimes;
const DAY_MS = 86_400_000;

/** People and agents with tokens of their own. A token is shown once, when it is made. */
export function Users() {
  const client = useClient();
  const { data, error, refetch } = useRead(['users'], () => client.users({ limit: 500 }), { keeps: true });
  const command = useCommand();
  const [shown, setShown] = useState<AddedUser>();
  const [asked, setAsked] = useState<{ readonly what: 'Remove' | 'Rotate'; readonly name: string }>();
  const issue = async (ask: () => Answer<AddedUser>) => {
    const isDone = await command.send(async () => {
      const made = await ask();
      if (made.ok) setShown(made.value);
      return made;
    });
    void refetch();
    return isDone;
  };
  const remove = async (user: string) => {
    if (!(await command.send(() => client.removeUser(user)))) return;
    if (shown?.name === user) setShown(undefined);
    void refetch();
  };
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Users could not be read" />;
  return (
    <Panel title="Users">
      <p className="px-3 pt-2 text-muted">What somebody does with a token of their own is recorded under their name.</p>
      {data?.users.length === 0 && <Empty title="Nobody has a token of their own yet" />}
      <ul className="users" aria-label="Users">
        {data?.users.map(user => (
          <UserLine
            key={user.name}
            user={user}
            isBusy={command.isBusy}
            onAsk={what => setAsked({ what, name: user.name })}
          />
        ))}
      </ul>
      {shown !== undefined && (
        <section aria-label={`Token of ${shown.name}`} className="decision m-3">
          <p>
            The token of <strong>{shown.name}</strong>. It is shown this once: hand it over now.
          </p>
          <p className="flex items-center gap-2">
            <code className="break-anywhere">{shown.token}</code>
            <CopyButton text={shown.token} label={`Copy the token of ${shown.name}`} />
          </p>
          <div>
            <button type="button" className="button button-small" onClick={() => setShown(undefined)}>
              I have it
            </button>
          </div>
        </section>
      )}
      {command.error !== undefined && <ErrorBox error={command.error} title="It did not work" />}
      <NewUser
        isBusy={command.isBusy}
        onAdd={(name, role, days) =>
          issue(() => client.addUser(name, { role, ...(days !== undefined && { expiresAt: inDays(days) }) }))
        }
      />
      {asked !== undefined && (
        <Confirm
          title={`${asked.what} ${asked.what === 'Rotate' ? `the token of ${asked.name}` : asked.name}?`}
          word={asked.what}
          onConfirm={() =>
            void (asked.what === 'Remove' ? remove(asked.name) : issue(() => client.rotateUser(asked.name)))
          }
          onClose={() => setAsked(undefined)}
        >
          <p>The token stops working at once, and what is open with it ends. What was done with it stays recorded.</p>
        </Confirm>
      )}
    </Panel>
  );
}

const inDays = (days: number) => timestamp.parse(new Date(Date.now() + days * DAY_MS).toISOString());

function UserLine({
  user: { name, role, addedAt, expiresAt, lastUsedAt },
  isBusy,
  onAsk,
}: {
  readonly user: WireUser;
  readonly isBusy: boolean;
  onAsk(what: 'Remove' | 'Rotate'): void;
}) {
  return (
    <li>
      <strong className="truncate">{name}</strong>
      <span className="kind" title={mayDo[role]}>
        {role}
      </span>
      <span className="text-muted">
        added <Moment at={addedAt} />
        {expiresAt !== undefined && (
          <>
            , {Date.parse(expiresAt) <= Date.now() ? 'expired' : 'expires'} <Moment at={expiresAt} />
          </>
        )}
        {lastUsedAt === undefined ? (
          ', never used'
        ) : (
          <>
            , used <Moment at={lastUsedAt} />
          </>
        )}
      </span>
      <button type="button" className="button button-small" disabled={isBusy} onClick={() => onAsk('Rotate')}>
        Rotate {name}…
      </button>
      <button
        type="button"
        className="button button-small button-danger"
        disabled={isBusy}
        onClick={() => onAsk('Remove')}
      >
        Remove {name}…
      </button>
    </li>
  );
}

function NewUser({
  isBusy,
  onAdd,
}: {
  readonly isBusy: boolean;
  onAdd(name: string, role: UserRole, days: number | undefined): Promise<boolean>;
}) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<UserRole>('viewer');
  const [lifetime, setLifetime] = useState<Lifetime>('never');
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (await onAdd(name.trim(), role, lifetimes[lifetime])) setName('');
  };
  return (
    <form onSubmit={add} className="user-form">
      <input
        className="field"
        aria-label="Name of a new user"
        placeholder="a name"
        value={name}
        onChange={event => setName(event.target.value)}
      />
      <select
        className="field"
        aria-label="Role"
        value={role}
        onChange={event => setRole(userRole.parse(event.target.value))}
      >
        {userRole.options.map(each => (
          <option key={each} value={each}>
            {each}: {mayDo[each]}
          </option>
        ))}
      </select>
      <select
        className="field"
        aria-label="Expires"
        value={lifetime}
        onChange={event => setLifetime(event.target.value as Lifetime)}
      >
        {Object.keys(lifetimes).map(each => (
          <option key={each} value={each}>
            {each === 'never' ? 'never expires' : `expires in ${each}`}
          </option>
        ))}
      </select>
      <button type="submit" className="button" disabled={isBusy || name.trim() === ''}>
        Add a user
      </button>
    </form>
  );
}

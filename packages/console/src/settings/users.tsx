import type { AddedUser } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { Confirm } from '../frame/confirm.tsx';
import { CopyButton } from '../frame/copy-button.tsx';
import { Moment } from '../frame/moment.tsx';
import { Empty, ErrorBox } from '../frame/notices.tsx';
import { Panel } from '../frame/panel.tsx';
import { useCommand } from '../frame/use-command.ts';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';

/** People with tokens of their own. A token is shown once, when it is made. */
export function Users() {
  const client = useClient();
  const { data, error, refetch } = useRead(['users'], () => client.users({ limit: 500 }), { keeps: true });
  const command = useCommand();
  const [name, setName] = useState('');
  const [added, setAdded] = useState<AddedUser>();
  const [leaving, setLeaving] = useState<string>();
  const add = async (event: FormEvent) => {
    event.preventDefault();
    const isDone = await command.send(async () => {
      const made = await client.addUser(name.trim());
      if (made.ok) setAdded(made.value);
      return made;
    });
    if (!isDone) return;
    setName('');
    void refetch();
  };
  const remove = async (user: string) => {
    if (!(await command.send(() => client.removeUser(user)))) return;
    if (added?.name === user) setAdded(undefined);
    void refetch();
  };
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Users could not be read" />;
  return (
    <Panel title="Users">
      <p className="px-3 pt-2 text-muted">What somebody does with a token of their own is recorded under their name.</p>
      {data?.users.length === 0 && <Empty title="Nobody has a token of their own yet" />}
      <ul className="users" aria-label="Users">
        {data?.users.map(user => (
          <li key={user.name}>
            <strong className="truncate">{user.name}</strong>
            <span className="text-muted">
              added <Moment at={user.addedAt} />
            </span>
            <button
              type="button"
              className="button button-small button-danger"
              disabled={command.isBusy}
              onClick={() => setLeaving(user.name)}
            >
              Remove {user.name}…
            </button>
          </li>
        ))}
      </ul>
      {added !== undefined && (
        <section aria-label={`Token of ${added.name}`} className="decision m-3">
          <p>
            The token of <strong>{added.name}</strong>. It is shown this once: hand it over now.
          </p>
          <p className="flex items-center gap-2">
            <code className="break-anywhere">{added.token}</code>
            <CopyButton text={added.token} label={`Copy the token of ${added.name}`} />
          </p>
          <div>
            <button type="button" className="button button-small" onClick={() => setAdded(undefined)}>
              I have it
            </button>
          </div>
        </section>
      )}
      {command.error !== undefined && <ErrorBox error={command.error} title="It did not work" />}
      <form onSubmit={add} className="user-form">
        <input
          className="field"
          aria-label="Name of a new user"
          placeholder="a name"
          value={name}
          onChange={event => setName(event.target.value)}
        />
        <button type="submit" className="button" disabled={command.isBusy || name.trim() === ''}>
          Add a user
        </button>
      </form>
      {leaving !== undefined && (
        <Confirm
          title={`Remove ${leaving}?`}
          word="Remove"
          onConfirm={() => void remove(leaving)}
          onClose={() => setLeaving(undefined)}
        >
          <p>The token stops working at once. What was done with it stays recorded.</p>
        </Confirm>
      )}
    </Panel>
  );
}

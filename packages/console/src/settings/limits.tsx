import type { UserRole } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';
import { many } from '../story/words.ts';
import { type LimitLine, limitLines, typedLimit } from './limit-lines.ts';

const LOOK_MS = 5_000;

/** What all runs may spend on a day, those of a project, and each new one. */
export function Limits({ role }: { readonly role: UserRole }) {
  const client = useClient();
  const [project, setProject] = useState<LimitLine>();
  const { data, error, refetch } = useRead(['limits'], () => client.limits(), { keeps: true, everyMs: LOOK_MS });
  if (error !== null && data === undefined)
    return error.code === 'request/unknown-route' ? null : <ErrorBox error={error} title="Could not load the limits" />;
  const lines = data === undefined ? [] : limitLines(data);
  const isNew = project !== undefined && !lines.some(line => keyOf(line) === keyOf(project));
  return (
    <Panel title="Limits">
      <p className="px-3 pt-2 text-muted">
        A call of a model that would pass a limit is refused before it is made. Its run waits until somebody raises the
        limit, or for the next day (UTC). {role !== 'owner' && 'Only an owner changes them.'}
      </p>
      {data?.problem !== undefined && (
        <p role="alert" className="px-3 pt-2 text-failed">
          <code>config.json</code> is not used: {data.problem}
        </p>
      )}
      {data === undefined ? (
        <Empty title="Loading…" />
      ) : (
        <div className="table-box">
          <table className="facts-table">
            <thead>
              <tr>
                <th scope="col">limit of</th>
                <th scope="col">spent</th>
                <th scope="col">may spend</th>
              </tr>
            </thead>
            <tbody>
              {[...lines, ...(isNew ? [project] : [])].map(line => (
                <LimitRow
                  key={`${keyOf(line)} ${amountsOf(line)}`}
                  line={line}
                  isOwner={role === 'owner'}
                  onChanged={refetch}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {role === 'owner' && <NewProject onAdd={setProject} />}
      <p className="px-3 py-2 text-muted">
        <code>signalbox limits</code> does the same. They are <code>limits</code> in <code>config.json</code>.
      </p>
    </Panel>
  );
}

/** A limit that is changed elsewhere is shown as it is now. */
const amountsOf = ({ maxTotalTokens, maxCostMicroUsd }: LimitLine) => `${maxTotalTokens} ${maxCostMicroUsd}`;
const keyOf = ({ scope, directory = '' }: LimitLine) => `${scope} ${directory}`;

interface LimitRowProps {
  readonly line: LimitLine;
  readonly isOwner: boolean;
  onChanged(): Promise<unknown>;
}

function LimitRow({ line, isOwner, onChanged }: LimitRowProps) {
  const { scope, directory, title, spent, raised, waiting, maxTotalTokens, maxCostMicroUsd } = line;
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [cost, setCost] = useState(maxCostMicroUsd === undefined ? '' : String(maxCostMicroUsd / 1e6));
  const [most, setMost] = useState(maxTotalTokens === undefined ? '' : String(maxTotalTokens));
  const amounts = { maxCostMicroUsd: typedLimit(cost, 1_000_000), maxTotalTokens: typedLimit(most, 1) };
  const isInvalid = amounts.maxCostMicroUsd === undefined || amounts.maxTotalTokens === undefined;
  const isSame =
    amounts.maxCostMicroUsd === (maxCostMicroUsd ?? null) && amounts.maxTotalTokens === (maxTotalTokens ?? null);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (isInvalid) return;
    await send(() => client.changeLimits({ scope, ...(directory !== undefined && { directory }), ...amounts }));
    await onChanged();
  };
  return (
    <tr>
      <th scope="row">
        <span className="break-anywhere">{title}</span>
        {waiting.length > 0 && (
          <p className="text-waiting">
            {many(waiting.length, 'run')} waiting: <Link to="/queue">answer</Link>
          </p>
        )}
      </th>
      <td>
        {spent}
        {raised !== undefined && <p className="text-muted">raised to {raised} for this day</p>}
      </td>
      <td>
        <form className="flex flex-wrap items-center gap-2" aria-label={`Limit of ${title}`} onSubmit={save}>
          <label className="flex items-center gap-1">
            $
            <input
              className="field w-24"
              aria-label={`Dollars, ${title}`}
              inputMode="decimal"
              placeholder="no limit"
              disabled={!isOwner}
              value={cost}
              onChange={({ target }) => setCost(target.value)}
            />
          </label>
          <label className="flex items-center gap-1">
            <input
              className="field w-28"
              aria-label={`Tokens, ${title}`}
              inputMode="numeric"
              placeholder="no limit"
              disabled={!isOwner}
              value={most}
              onChange={({ target }) => setMost(target.value)}
            />
            tokens
          </label>
          {isOwner && (
            <button type="submit" className="button button-small" disabled={isBusy || isInvalid || isSame}>
              Save
            </button>
          )}
        </form>
        {isInvalid && <p className="text-failed">Give numbers of 0 or more, or nothing for no limit.</p>}
        {error !== undefined && <ErrorBox error={error} title="The limit was not changed" />}
      </td>
    </tr>
  );
}

function NewProject({ onAdd }: { onAdd(line: LimitLine): void }) {
  const [directory, setDirectory] = useState('');
  const [isDaily, setIsDaily] = useState(true);
  const add = (event: FormEvent) => {
    event.preventDefault();
    const scope = isDaily ? 'project-day' : 'project';
    onAdd({ scope, directory, title: isDaily ? `${directory}, on one day` : directory, waiting: [] });
    setDirectory('');
  };
  return (
    <form className="flex flex-wrap items-center gap-2 px-3 pt-2" aria-label="Limit a project" onSubmit={add}>
      <input
        className="field w-72"
        aria-label="Directory of the project"
        placeholder="/home/ada/app"
        value={directory}
        onChange={({ target }) => setDirectory(target.value)}
      />
      <label className="flex items-center gap-1">
        <input type="checkbox" checked={isDaily} onChange={({ target }) => setIsDaily(target.checked)} />
        on one day
      </label>
      <button type="submit" className="button button-small" disabled={!/^(?:\/|[A-Za-z]:\\)/.test(directory)}>
        Add a project
      </button>
    </form>
  );
}

import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { useFleetRead } from './fleet-live.tsx';
import { noSpawnFields, type SpawnFields, spawnFaults, spawnOf } from './spawn-fields.ts';

/** Starts an agent: what runs it, what it is, and where it works. */
export function SpawnForm({ onChanged }: { onChanged(): void }) {
  const client = useClient();
  const { data: fleet } = useFleetRead(['plugins'], () => client.fleet());
  const { isBusy, error, send } = useCommand();
  const [fields, setFields] = useState<SpawnFields>(noSpawnFields);
  const [isShown, setIsShown] = useState(false);
  const faults = spawnFaults(fields);
  const change = (changed: Partial<SpawnFields>) => setFields(before => ({ ...before, ...changed }));
  const spawn = async () => {
    if (await send(() => client.spawnAgent(spawnOf(fields)))) {
      setFields(noSpawnFields);
      setIsShown(false);
    }
    onChanged();
  };
  return (
    <details className="more" open={isShown} onToggle={({ currentTarget }) => setIsShown(currentTarget.open)}>
      <summary>Start an agent</summary>
      <form
        className="form controls-form"
        aria-label="Start an agent"
        onSubmit={event => {
          event.preventDefault();
          void spawn();
        }}
      >
        <div className="form-row">
          <label>
            Name
            <input
              required
              maxLength={256}
              value={fields.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          </label>
          <label>
            Plugin
            <select required value={fields.plugin} onChange={({ target }) => change({ plugin: target.value })}>
              <option value="">Choose one</option>
              {(fleet?.plugins ?? []).map(name => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            Role
            <input
              required
              maxLength={256}
              value={fields.role}
              onChange={({ target }) => change({ role: target.value })}
            />
          </label>
          <label>
            Workstream
            <input
              required
              maxLength={256}
              value={fields.workstream}
              onChange={({ target }) => change({ workstream: target.value })}
            />
          </label>
          <label>
            Directory
            <input
              maxLength={4096}
              value={fields.directory}
              aria-invalid={faults.directory !== undefined}
              onChange={({ target }) => change({ directory: target.value })}
            />
          </label>
        </div>
        <label>
          Brief
          <textarea
            required
            rows={4}
            value={fields.description}
            onChange={({ target }) => change({ description: target.value })}
          />
        </label>
        {faults.directory !== undefined && <p role="alert">Directory: {faults.directory}.</p>}
        <div>
          <button type="submit" className="button button-main" disabled={isBusy || Object.keys(faults).length > 0}>
            Start
          </button>
        </div>
        {error !== undefined && <ErrorBox error={error} title="The agent was not started" />}
      </form>
    </details>
  );
}

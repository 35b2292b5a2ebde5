import type { BrakeRecord, WireFleetAgent } from '@signalbox/model';
import { useState } from 'react';
import { useFleetRead } from '../fleet/fleet-live.tsx';
import { engagedOf, outcomeOf, releaseWords, scopeWords, silenceWords } from '../fleet/fleet-words.ts';
import { useClient } from '../server/client-context.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';
import { type BrakeFields, brakeOf, noBrakeFields } from './brake-fields.ts';

interface BrakePanelProps {
  readonly agents: readonly WireFleetAgent[];
  nameOf(agent: string): string;
  onChanged(): void;
}

/** Stops agents, and proves that they stopped. */
export function BrakePanel({ agents, nameOf, onChanged }: BrakePanelProps) {
  const client = useClient();
  const { data } = useFleetRead(['brakes'], () => client.brakes());
  const { isBusy, error, send } = useCommand();
  const engaged = data === undefined ? [] : engagedOf(data);
  const released = (data?.brakes ?? []).filter(brake => brake.released !== undefined).toReversed();
  const release = async (brakeId: string) => {
    await send(() => client.releaseBrake({ brakeId }));
    onChanged();
  };
  return (
    <Panel title="Brake" aside={<span className="text-muted">{engaged.length === 0 ? 'not engaged' : 'engaged'}</span>}>
      <BrakeForm agents={agents} onChanged={onChanged} />
      {error !== undefined && <ErrorBox error={error} title="The brake was not released" />}
      {engaged.map(brake => (
        <Brake key={brake.id} brake={brake} nameOf={nameOf}>
          <button type="button" className="button button-main" disabled={isBusy} onClick={() => release(brake.id)}>
            Release<span className="sr-only"> the brake on {scopeWords(brake.action.scope, nameOf)}</span>
          </button>
        </Brake>
      ))}
      {released.length > 0 && (
        <details className="more controls-part">
          <summary>Earlier brakes</summary>
          {released.map(brake => (
            <Brake key={brake.id} brake={brake} nameOf={nameOf} />
          ))}
        </details>
      )}
    </Panel>
  );
}

interface BrakeProps {
  readonly brake: BrakeRecord;
  nameOf(agent: string): string;
  readonly children?: React.ReactNode;
}

/** A brake and its proof: when each agent fell silent, and what it sent afterwards. */
function Brake({ brake, nameOf, children }: BrakeProps) {
  const { action, agents, released } = brake;
  return (
    <section className="controls-part" aria-label={`Brake: ${action.reason}`}>
      <h3>
        <Lamp signal={released === undefined ? 'held' : 'idle'} /> {action.reason} {children}
      </h3>
      <p className="text-muted">
        {action.behavior === 'kill' ? 'Kills' : 'Pauses'} {scopeWords(action.scope, nameOf)}, by {action.initiatedBy}{' '}
        <Moment at={action.timestamp} />, {released === undefined ? releaseWords(brake) : `released by ${released.by}`}
      </p>
      {agents.length > 0 && (
        <div className="table-box">
          <table className="facts-table">
            <thead>
              <tr>
                <th scope="col">agent</th>
                <th scope="col">outcome</th>
                <th scope="col">time to silence</th>
                <th scope="col">refused later</th>
              </tr>
            </thead>
            <tbody>
              {agents.map(agent => {
                const { signal, word } = outcomeOf(agent);
                return (
                  <tr key={agent.agentId}>
                    <th scope="row">{nameOf(agent.agentId)}</th>
                    <td>
                      <span className={`fleet-standing word word-${signal}`}>
                        <Lamp signal={signal} /> {word}
                      </span>
                    </td>
                    <td className="mono">{silenceWords(agent)}</td>
                    <td className="mono">{agent.refusedEvents}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function BrakeForm({ agents, onChanged }: Pick<BrakePanelProps, 'agents' | 'onChanged'>) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [fields, setFields] = useState<BrakeFields>(noBrakeFields);
  const change = (changed: Partial<BrakeFields>) => setFields(before => ({ ...before, ...changed }));
  const streams = [...new Set(agents.map(({ workstream }) => workstream))].toSorted();
  const pull = async () => {
    if (await send(() => client.brake(brakeOf(fields)))) setFields(noBrakeFields);
    onChanged();
  };
  return (
    <form
      className="form controls-form"
      aria-label="Brake"
      onSubmit={event => {
        event.preventDefault();
        void pull();
      }}
    >
      <div className="form-row">
        <label>
          Stop
          <select value={fields.scope} onChange={({ target }) => change({ scope: target.value })}>
            <option value="all">All agents</option>
            {streams.map(name => (
              <option key={name} value={`workstream ${name}`}>
                Workstream {name}
              </option>
            ))}
            {agents.map(({ id, name }) => (
              <option key={id} value={`agent ${id}`}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          By
          <select
            value={fields.behavior}
            onChange={({ target }) => change({ behavior: target.value as BrakeFields['behavior'] })}
          >
            <option value="pause">Pausing</option>
            <option value="kill">Killing</option>
          </select>
        </label>
        <label>
          Release
          <select
            value={fields.release}
            onChange={({ target }) => change({ release: target.value as BrakeFields['release'] })}
          >
            <option value="manual">By a person</option>
            <option value="timer">After some minutes</option>
          </select>
        </label>
        {fields.release === 'timer' && (
          <label>
            Minutes
            <input
              type="number"
              min={1}
              max={1440}
              value={fields.minutes}
              onChange={({ target }) =>
                Number.isFinite(target.valueAsNumber) && change({ minutes: target.valueAsNumber })
              }
            />
          </label>
        )}
      </div>
      <label>
        Reason
        <input
          required
          maxLength={500}
          value={fields.reason}
          onChange={({ target }) => change({ reason: target.value })}
        />
      </label>
      <div>
        <button type="submit" className="button button-stop" disabled={isBusy || fields.reason.trim() === ''}>
          Brake
        </button>
      </div>
      {error !== undefined && <ErrorBox error={error} title="The brake was not engaged" />}
    </form>
  );
}

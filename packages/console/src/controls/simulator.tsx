import { type TrustProfileName, trustProfileName, type WireFleetAgent } from '@signalbox/model';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { many } from '../story/words.ts';

/** The history of an agent with another profile: what would have been asked, and what would not. */
export function Simulator({ agent: { id, name } }: { readonly agent: Pick<WireFleetAgent, 'id' | 'name'> }) {
  const client = useClient();
  const [profile, setProfile] = useState<TrustProfileName>();
  const { data, error } = useRead(
    ['simulation', id, profile],
    () => client.simulateTrust(id, { profile: profile ?? 'balanced' }),
    { isEnabled: profile !== undefined },
  );
  return (
    <section className="controls-part" aria-label={`Simulator for ${name}`}>
      <h3>
        Simulator
        <span className="views">
          {trustProfileName.options.map(one => (
            <button
              key={one}
              type="button"
              className="view"
              aria-pressed={one === profile}
              onClick={() => setProfile(one)}
            >
              {one}
            </button>
          ))}
        </span>
      </h3>
      {profile === undefined && <p className="text-muted">Choose a profile to replay the history of {name} with it.</p>}
      {error !== null && <ErrorBox error={error} title="Could not replay the history" />}
      {data !== undefined && (
        <div role="status">
          <p>
            With <strong>{data.profile}</strong>: {data.simulated} instead of {data.actual}.{' '}
            {data.differences.length === 0
              ? 'The same calls would have been asked.'
              : `${many(data.differences.length, 'call')} would have been treated differently.`}
          </p>
          {data.differences.length > 0 && (
            <div className="table-box">
              <table className="facts-table">
                <thead>
                  <tr>
                    <th scope="col">tool</th>
                    <th scope="col">tick</th>
                    <th scope="col">was</th>
                    <th scope="col">would be</th>
                    <th scope="col">why</th>
                  </tr>
                </thead>
                <tbody>
                  {data.differences.map(({ decisionId, toolName, tick, wasAsked, wouldBeAsked, reason }) => (
                    <tr key={decisionId}>
                      <th scope="row">{toolName}</th>
                      <td className="mono">{tick}</td>
                      <td>{wasAsked ? 'asked' : 'approved'}</td>
                      <td>{wouldBeAsked ? 'asked' : 'approved'}</td>
                      <td>{reason}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </div>
      )}
    </section>
  );
}

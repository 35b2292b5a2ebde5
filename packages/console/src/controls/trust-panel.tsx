import type { WireFleetAgent, WireTrust } from '@signalbox/model';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useFleetRead } from '../fleet/fleet-live.tsx';
import { asWords, signed } from '../fleet/fleet-words.ts';
import { useClient } from '../server/client-context.ts';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { many } from '../story/words.ts';
import { Simulator } from './simulator.tsx';
import { TrustChart } from './trust-chart.tsx';

const route = getRouteApi('/controls');

/** What each agent earned, why, and what it would have earned. */
export function TrustPanel({ agents }: { readonly agents: readonly WireFleetAgent[] }) {
  const client = useClient();
  const { agent: asked } = route.useSearch();
  const shown = agents.find(({ id }) => id === asked) ?? agents[0];
  const { data, error } = useFleetRead(['trust', shown?.id], () => client.trust(shown?.id ?? ''), shown !== undefined);
  return (
    <Panel
      title="Trust"
      className="wide"
      aside={
        data && (
          <span className="text-muted">
            profile {data.profile}
            {data.calibrationMode && ', calibration mode: scores stand still'}
          </span>
        )
      }
    >
      {agents.length === 0 && <Empty title="No agents yet" />}
      {agents.length > 0 && (
        <div className="table-box">
          <table className="facts-table">
            <thead>
              <tr>
                <th scope="col">agent</th>
                <th scope="col">workstream</th>
                <th scope="col">trust</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {agents.map(agent => (
                <tr key={agent.id}>
                  <th scope="row">
                    <Link
                      to="/controls"
                      search={{ agent: agent.id }}
                      aria-current={agent === shown ? 'true' : undefined}
                    >
                      {agent.name}
                    </Link>
                  </th>
                  <td className="text-muted">{agent.workstream}</td>
                  <td className="score">{agent.trust}</td>
                  <td>
                    <ScoreBar score={agent.trust} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {error !== null && data === undefined && <ErrorBox error={error} title="Could not load the trust" />}
      {shown !== undefined && data !== undefined && data.agentId === shown.id && (
        <>
          <section className="controls-part" aria-label={`Trust of ${shown.name}`}>
            <h3>
              {shown.name}: {data.score}
              {data.hypotheticalScore !== data.score && <span className="tag">would be {data.hypotheticalScore}</span>}
              <span className="text-muted">{many(data.samples, 'outcome')}</span>
            </h3>
            <TrustChart trust={data} />
            <History trust={data} />
            <Proof key={shown.id} agent={shown.id} />
          </section>
          <Simulator key={`simulate ${shown.id}`} agent={shown} />
        </>
      )}
    </Panel>
  );
}

function ScoreBar({ score }: { readonly score: number }) {
  return (
    <svg width="100" height="8" viewBox="0 0 100 8" aria-hidden="true">
      <rect width="100" height="8" rx="4" className="score-base" />
      <rect width={score} height="8" rx="4" className="score-now" />
    </svg>
  );
}

const SHOWN = 50;

function History({ trust: { history, calibrationMode } }: { readonly trust: WireTrust }) {
  if (history.length === 0) return <p className="text-muted">Nothing has changed it yet.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls is reached with the keyboard
    <section className="table-box fleet-table" tabIndex={0} aria-label="History of trust">
      <table className="facts-table">
        <thead>
          <tr>
            <th scope="col">when</th>
            <th scope="col">cause</th>
            <th scope="col">change</th>
            <th scope="col">score</th>
            {calibrationMode && <th scope="col">would be</th>}
          </tr>
        </thead>
        <tbody>
          {history
            .slice(-SHOWN)
            .toReversed()
            .map(({ at, cause, reason, effectiveDelta, newScore, hypotheticalScore, tick }, index) => (
              <tr key={`${tick} ${index}`}>
                <th scope="row">
                  <Moment at={at} />
                </th>
                <td title={reason}>{asWords(cause)}</td>
                <td className="mono">{signed(effectiveDelta)}</td>
                <td className="mono">{newScore}</td>
                {calibrationMode && <td className="mono">{hypotheticalScore}</td>}
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}

/** Computes the score again from the log. */
function Proof({ agent }: { readonly agent: string }) {
  const client = useClient();
  const [isAsked, setIsAsked] = useState(false);
  const { data, error } = useFleetRead(['proof', agent], () => client.recomputeTrust(agent), isAsked);
  return (
    <p className="mt-2" role="status">
      {!isAsked ? (
        <button type="button" className="button button-small" onClick={() => setIsAsked(true)}>
          Check against the log
        </button>
      ) : error !== null ? (
        <span className="text-failed">{error.message}</span>
      ) : data === undefined ? (
        'Computing…'
      ) : data.ok ? (
        <span className="word word-done">
          Proved: {many(data.changes, 'change')} in {many(data.facts, 'fact')} lead to {data.computed}.
        </span>
      ) : (
        <span className="word word-failed">
          The log says {data.score}, its facts lead to {data.computed}.
        </span>
      )}
    </p>
  );
}

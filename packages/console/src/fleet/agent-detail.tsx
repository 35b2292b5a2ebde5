import type { Answer } from '@signalbox/client';
import { asJson, type WireFleetAgentDetail } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useSettings } from '../settings/settings.ts';
import { Confirm } from '../shell/confirm.tsx';
import { JsonView } from '../shell/json-view.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { many } from '../story/words.ts';
import { useFleetRead } from './fleet-live.tsx';
import { asWords, healthOf, standingOf } from './fleet-words.ts';

/** Everything about one agent: how it is, what it may do, what it was told, and what happened to it. */
export function AgentDetail({ id, onChanged }: { readonly id: string; onChanged(): void }) {
  const client = useClient();
  const { data: agent, error } = useFleetRead(['agent', id], () => client.fleetAgent(id));
  if (error !== null && agent === undefined) return <ErrorBox error={error} title="Could not load the agent" />;
  if (agent === undefined || agent.id !== id) return <Empty title="Loading…" />;
  const { signal, word } = standingOf(agent);
  const pending = agent.handle.pendingBriefChanges;
  const health = healthOf(agent);
  return (
    <article className="desk" aria-label={agent.name}>
      <header>
        <p className="eyebrow">
          {agent.role} · {agent.workstream} · plugin {agent.pluginName}
        </p>
        <h2>{agent.name}</h2>
        <p className={`fleet-standing word word-${signal}`}>
          <Lamp signal={signal} size={16} /> {word}
          {agent.because !== undefined && <span className="text-muted"> · {agent.because}</span>}
        </p>
        {agent.of !== undefined && (
          <p>
            <Link to="/runs/$run" params={{ run: agent.of.run }} search={{ node: agent.of.node }}>
              Node {agent.of.node} of plan {agent.of.plan}
            </Link>
          </p>
        )}
      </header>
      <Levers agent={agent} onChanged={onChanged} />
      {agent.pendingDecisions > 0 && (
        <p>
          <Link to="/queue">{many(agent.pendingDecisions, 'decision')} in the queue</Link>
        </p>
      )}
      {pending !== undefined && (
        <section aria-label="Pending changes of the brief" className="fleet-pending">
          <h3 className="eyebrow">Brief update pending</h3>
          <p>
            The agent works with its earlier brief until it is restarted: {Object.keys(pending).map(asWords).join(', ')}
            .
          </p>
          <details className="more">
            <summary>Show the changes</summary>
            <JsonView value={asJson(pending)} />
          </details>
        </section>
      )}
      <Health agent={agent} words={health} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached with the keyboard */}
      <section aria-label="History" className="fleet-history" tabIndex={0}>
        <h3 className="eyebrow">History</h3>
        <ol className="moves">
          {agent.history.toReversed().map(({ at, what }, index) => (
            <li key={`${at} ${index}`}>
              <Moment at={at} className="text-faint" /> {what}
            </li>
          ))}
        </ol>
      </section>
      <details className="more">
        <summary>Brief</summary>
        <JsonView value={asJson(agent.brief)} />
      </details>
    </article>
  );
}

function Levers({ agent, onChanged }: { readonly agent: WireFleetAgentDetail; onChanged(): void }) {
  const client = useClient();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const [isAsking, setIsAsking] = useState(false);
  const { id, name, status, handle } = agent;
  const isRunning = status === 'running' || status === 'starting';
  const act = async (command: () => Answer<unknown>) => {
    await send(command);
    onChanged();
  };
  return (
    <>
      <div className="levers">
        {isRunning && (
          <button
            type="button"
            className="button"
            disabled={isBusy}
            onClick={() => act(() => client.pauseAgent(id, undefined))}
          >
            Pause
          </button>
        )}
        {status === 'paused' && (
          <button
            type="button"
            className="button button-main"
            disabled={isBusy}
            onClick={() => act(() => client.resumeAgent(id))}
          >
            Resume
          </button>
        )}
        {status !== 'starting' && (
          <button type="button" className="button" disabled={isBusy} onClick={() => act(() => client.restartAgent(id))}>
            {handle.pendingBriefChanges === undefined ? 'Restart' : 'Restart to apply'}
          </button>
        )}
        {(isRunning || status === 'paused') && dangerous === 'ask' && (
          <button type="button" className="button button-danger" disabled={isBusy} onClick={() => setIsAsking(true)}>
            Kill…
          </button>
        )}
      </div>
      {error !== undefined && <ErrorBox error={error} title="The agent did not obey" />}
      {isAsking && (
        <Confirm
          title={`Kill ${name}?`}
          word="Kill"
          onConfirm={() => act(() => client.killAgent(id, undefined))}
          onClose={() => setIsAsking(false)}
        >
          <p>Its work ends at once. Its open decisions stay in the queue, marked “agent killed”.</p>
        </Confirm>
      )}
    </>
  );
}

const capabilityWords = {
  supportsPause: ['pauses where it is', 'cannot pause: a pause ends it and saves its session'],
  supportsResume: ['resumes where it was', 'cannot resume: it takes a new turn with the conversation so far'],
  supportsKill: ['ends cleanly', 'is cut off when it is killed'],
  supportsHotBriefUpdate: ['takes a new brief at once', 'takes a new brief at its next start'],
} as const;

function Health({ agent, words }: { readonly agent: WireFleetAgentDetail; readonly words: readonly string[] }) {
  const { capabilities, lives, eventsEmitted, checkpoints, startedAt } = agent;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['Health', words.length === 0 ? 'no faults' : words.join(', ')],
    ['Sessions', `${lives}`],
    ...(startedAt === null ? [] : [['Started', <Moment key="at" at={startedAt} />] as const]),
    ['Events', `${eventsEmitted}`],
    ['Checkpoints', `${checkpoints}`],
    ...(capabilities === undefined
      ? []
      : [
          [
            'Plugin',
            Object.entries(capabilityWords)
              .map(([name, [yes, no]]) => (capabilities[name as keyof typeof capabilityWords] ? yes : no))
              .join('; '),
          ] as const,
        ]),
  ];
  return (
    <section aria-label="Health">
      <dl className="fleet-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

import type { Client } from '@signalbox/client';
import { type ErrorEnvelope, type RunSummary, runPhase } from '@signalbox/model';
import { useState } from 'react';
import { Lamp } from '../frame/lamp.tsx';
import { ErrorBox } from '../frame/notices.tsx';
import { useNow } from '../frame/use-now.ts';
import { runStanding, span } from '../story/words.ts';

/** What the run is, what it is doing, and the levers that move it. */
export function RunHead({ client, summary }: { readonly client: Client; readonly summary: RunSummary }) {
  const { record, phase, stopReason } = summary;
  const hasEnded = record.endedAt !== undefined;
  const now = useNow(!hasEnded);
  const { signal, word } = runStanding(summary);
  const begun = Date.parse(record.startedAt ?? record.createdAt);
  const end = record.endedAt === undefined ? now : Date.parse(record.endedAt);
  return (
    <header className="runhead">
      <div className="runhead-title">
        <Lamp signal={signal} size={22} />
        <h1>{record.name}</h1>
        <span role="status" className={`word word-${signal}`}>
          {word}
        </span>
      </div>
      <ol className="phases" aria-label="Phase">
        {runPhase.options
          .filter(name => name !== 'DOCS_SYNC' || phase === name)
          .map(name => (
            <li key={name} aria-current={name === phase ? 'step' : undefined}>
              {name}
            </li>
          ))}
      </ol>
      <dl className="facts">
        <Fact name="run">
          <span className="mono">{record.id}</span>
        </Fact>
        <Fact name="for">{span(end - begun)}</Fact>
        <Fact name="frames">{record.frames}</Fact>
        <Fact name="events">{record.nextSeq}</Fact>
        {record.entry !== undefined && <Fact name="plan">{record.entry}</Fact>}
        {stopReason !== undefined && <Fact name="stopped because">{stopReason}</Fact>}
      </dl>
      <Levers client={client} summary={summary} />
    </header>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Levers({ client, summary: { record } }: { readonly client: Client; readonly summary: RunSummary }) {
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<ErrorEnvelope>();
  const { id, status } = record;
  const isUnderWay = status === 'running' || status === 'queued' || status === 'waiting';
  const canResume = status === 'paused' || status === 'stalled' || status === 'failed' || status === 'stopped';
  const pull = async (name: string, command: () => ReturnType<Client['pause']>) => {
    setBusy(name);
    setError(undefined);
    const done = await command();
    setBusy(undefined);
    if (!done.ok) setError(done.error);
  };
  return (
    <div className="levers">
      {isUnderWay && (
        <button
          type="button"
          className="button"
          disabled={busy !== undefined}
          onClick={() => pull('pause', () => client.pause(id))}
        >
          Pause
        </button>
      )}
      {canResume && (
        <button
          type="button"
          className="button button-main"
          disabled={busy !== undefined}
          onClick={() => pull('resume', () => client.resume(id))}
        >
          Resume
        </button>
      )}
      {(isUnderWay || status === 'paused' || status === 'stalled') && (
        <button
          type="button"
          className="button button-danger"
          disabled={busy !== undefined}
          onClick={() => pull('stop', () => client.stop(id))}
        >
          Stop
        </button>
      )}
      {error !== undefined && <ErrorBox error={error} title="It did not work" />}
    </div>
  );
}

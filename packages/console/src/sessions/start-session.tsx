import type { Json, SessionId } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { contextKeys } from './context-keys.ts';

interface StartSessionProps {
  readonly workflow: string;
  /** The workflow as it was written: what its texts ask for is asked here. */
  readonly source: Json | undefined;
  onStarted(session: SessionId): void;
}

/** Starts a session that waits for an agent: what the workflow reads, and where the work is. */
export function StartSession({ workflow, source, onStarted }: StartSessionProps) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [facts, setFacts] = useState<Readonly<Record<string, string>>>({});
  const [place, setPlace] = useState('');
  // One form is one start, however often it is sent.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const keys = source === undefined ? [] : contextKeys(source);

  async function start(event: FormEvent) {
    event.preventDefault();
    const context = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== ''));
    const workspacePath = place.trim();
    const body = { workflowId: workflow, context, ...(workspacePath !== '' && { workspacePath }) };
    await send(async () => {
      const started = await client.startSession(body, { idempotencyKey });
      if (started.ok) onStarted(started.value.sessionId);
      return started;
    });
  }

  return (
    <form className="form max-w-[60ch]" aria-label={`Start ${workflow}`} onSubmit={start}>
      <h3 className="eyebrow">Start it</h3>
      {keys.map(key => (
        <label key={key}>
          {key}
          <input value={facts[key] ?? ''} onChange={event => setFacts({ ...facts, [key]: event.target.value })} />
        </label>
      ))}
      <label>
        The folder of the work, if there is one
        <input value={place} placeholder="/home/me/project" onChange={event => setPlace(event.target.value)} />
      </label>
      <p className="text-muted">
        It waits for an agent, which finds it with <code>resume_session</code>. An agent can start one itself:{' '}
        <code>start_workflow</code> with <code>{`{"workflowId": "${workflow}"}`}</code>. Connect one with{' '}
        <code>signalbox mcp</code>.
      </p>
      {error !== undefined && <ErrorBox error={error} title="It was not started" />}
      <button type="submit" className="button button-go self-start" disabled={isBusy}>
        Start
      </button>
    </form>
  );
}

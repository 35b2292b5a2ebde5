import type { Client } from '@signalbox/client';
import type { ErrorEnvelope, RunId, TreeNode } from '@signalbox/model';
import { useState } from 'react';
import { ErrorBox } from '../frame/notices.tsx';
import { nodeStanding } from '../story/words.ts';

const works: ReadonlySet<string> = new Set([
  'agent',
  'claude',
  'codex',
  'gemini',
  'openai',
  'task',
  'human',
  'subplan',
]);

interface NodeBarProps {
  readonly client: Client;
  readonly run: RunId;
  readonly node: TreeNode;
}

/** What can be done about the node that is looked at, if it is one that does work. */
export function NodeBar({ client, run, node }: NodeBarProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ErrorEnvelope>();
  if (!works.has(node.kind)) return null;
  const { id, status, label, reason } = node;
  const canCancel = status === 'running' || status === 'scheduled' || status === 'blocked';
  const canRetry = status === 'failed' || status === 'canceled' || status === 'succeeded' || status === 'abandoned';
  const pull = async (command: Client['retry']) => {
    setIsBusy(true);
    setError(undefined);
    const done = await command(run, id);
    setIsBusy(false);
    if (!done.ok) setError(done.error);
  };
  return (
    <div className="nodebar">
      <span className="nodebar-name">{label}</span>
      <span className="text-muted">
        {nodeStanding(status).word}
        {reason !== undefined && `: ${reason}`}
      </span>
      <span className="mono text-faint">{id}</span>
      {canRetry && (
        <button type="button" className="button button-small" disabled={isBusy} onClick={() => pull(client.retry)}>
          Retry
        </button>
      )}
      {canCancel && (
        <button
          type="button"
          className="button button-small button-danger"
          disabled={isBusy}
          onClick={() => pull(client.cancel)}
        >
          Cancel
        </button>
      )}
      {error !== undefined && <ErrorBox error={error} title="It did not work" />}
    </div>
  );
}

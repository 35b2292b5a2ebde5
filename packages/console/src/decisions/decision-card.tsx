import type { Client } from '@signalbox/client';
import type { ErrorEnvelope, WireDecision } from '@signalbox/model';
import { useState } from 'react';
import { Lamp } from '../frame/lamp.tsx';
import { ErrorBox } from '../frame/notices.tsx';
import { useNow } from '../frame/use-now.ts';
import { span } from '../story/words.ts';

const kinds: Record<WireDecision['decision']['kind'], string> = {
  file_edit: 'wants to change files',
  command_exec: 'wants to run a command',
  external_api: 'wants to call something outside',
  human: 'asks you',
  choice: 'asks you to choose',
  confirmation: 'asks you to confirm',
  review: 'asks for your review',
};

interface DecisionCardProps {
  readonly client: Client;
  readonly decision: WireDecision;
  /** What the node that asks is called. */
  readonly label: string;
}

/** A decision with all it is about. The answer carries the hash of what is shown here, and of nothing else. */
export function DecisionCard({ client, decision: { approvalId, tool, context, decision }, label }: DecisionCardProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ErrorEnvelope>();
  const now = useNow();
  const title = `${label} ${kinds[decision.kind]}`;
  const answer = async (status: 'approved' | 'denied') => {
    setIsBusy(true);
    setError(undefined);
    const done = await client.resolve(approvalId, { status, proposalHash: decision.proposalHash });
    setIsBusy(false);
    if (!done.ok) setError(done.error);
  };
  return (
    <article className="decision" aria-label={title}>
      <header>
        <Lamp signal="waiting" size={16} />
        <h2>{title}</h2>
        <span className="text-muted mono">{span(now - Date.parse(decision.askedAt))}</span>
      </header>
      {context !== undefined && <p>{context}</p>}
      {Object.keys(tool.args).length > 0 && (
        <dl className="args">
          {Object.entries(tool.args).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <pre>{typeof value === 'string' ? value : JSON.stringify(value, null, 1)}</pre>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <div className="answers">
        <button type="button" className="button button-main" disabled={isBusy} onClick={() => answer('approved')}>
          Approve
        </button>
        <button type="button" className="button button-danger" disabled={isBusy} onClick={() => answer('denied')}>
          Deny
        </button>
        <span className="text-faint mono">{tool.name}</span>
      </div>
      {error !== undefined && <ErrorBox error={error} title="The answer was not taken" />}
    </article>
  );
}

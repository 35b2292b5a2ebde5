import type { Client } from '@signalbox/client';
import type { ErrorEnvelope, Json, WireDecision, WireResolution } from '@signalbox/model';
import { useState } from 'react';
import { Lamp } from '../frame/lamp.tsx';
import { ErrorBox } from '../frame/notices.tsx';
import { useNow } from '../frame/use-now.ts';
import { questionOf } from '../story/question.ts';
import { span } from '../story/words.ts';
import { ValueForm } from './value-form.tsx';

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
export function DecisionCard({ client, decision, label }: DecisionCardProps) {
  const { approvalId, tool } = decision;
  const { kind, proposalHash, askedAt } = decision.decision;
  const [isBusy, setIsBusy] = useState(false);
  const [why, setWhy] = useState('');
  const [error, setError] = useState<ErrorEnvelope>();
  const now = useNow();
  const { wants, words, shown } = questionOf(decision);
  const title = `${label} ${kinds[kind]}`;
  const isReview = kind === 'human' || kind === 'choice' || kind === 'confirmation' || kind === 'review';

  const answer = async (
    resolutionType: WireResolution['resolutionType'],
    more: { readonly chosenOptionId?: string; readonly value?: Json } = {},
  ) => {
    setIsBusy(true);
    setError(undefined);
    const resolution: WireResolution = {
      resolutionType,
      rationale: why,
      actionKind: isReview ? 'review' : 'update',
      ...more,
    };
    const done = await client.resolve(approvalId, { resolution, proposalHash });
    setIsBusy(false);
    if (!done.ok) setError(done.error);
  };

  return (
    <article className="decision" aria-label={title}>
      <header>
        <Lamp signal="waiting" size={16} />
        <h2>{title}</h2>
        <span className="text-muted mono">{span(now - Date.parse(askedAt))}</span>
      </header>
      {words !== undefined && <p className="whitespace-pre-wrap">{words}</p>}
      {shown.length > 0 && (
        <dl className="args">
          {shown.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <pre>{value}</pre>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {wants.kind === 'value' && (
        <ValueForm schema={wants.schema} isBusy={isBusy} onValue={value => answer('approve', { value })} />
      )}
      <div className="answers">
        {wants.kind === 'approval' && (
          <button type="button" className="button button-main" disabled={isBusy} onClick={() => answer('approve')}>
            Approve
          </button>
        )}
        {wants.kind === 'option' &&
          wants.options.map(({ id, label: name }) => (
            <button
              key={id}
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => answer('choose_option', { chosenOptionId: id })}
            >
              {name}
            </button>
          ))}
        <button type="button" className="button button-danger" disabled={isBusy} onClick={() => answer('reject')}>
          Deny
        </button>
        <input
          className="why"
          aria-label="Why, if you like to say it"
          placeholder="why, if you like to say it"
          value={why}
          maxLength={2000}
          onChange={event => setWhy(event.target.value)}
        />
        {!isReview && <span className="text-faint mono">{tool.name}</span>}
      </div>
      {error !== undefined && <ErrorBox error={error} title="The answer was not taken" />}
    </article>
  );
}

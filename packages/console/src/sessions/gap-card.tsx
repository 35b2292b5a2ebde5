import type { SessionGap, SessionId } from '@signalbox/model';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { Lamp } from '../shell/lamp.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';

interface GapCardProps {
  readonly session: SessionId;
  readonly gap: SessionGap;
  onAnswered(): void;
}

/** Something that the session lacks, and what was answered. What only the person can give is answered here. */
export function GapCard({ session, gap, onAnswered }: GapCardProps) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [value, setValue] = useState('');
  const { gapId, reason, summary, resolvedBy, shown, severity } = gap;
  const isOpen = resolvedBy === undefined;
  const isPersons = isOpen && reason.category === 'user_only_dependency';
  const wantsLeave = isPersons && reason.detail === 'needs_user_approval';
  const say = async (answer: Parameters<typeof client.answerGap>[2]) => {
    if (await send(() => client.answerGap(session, gapId, answer))) onAnswered();
  };
  return (
    <section className={isOpen ? 'decision' : 'gap-closed'} aria-label={summary}>
      <p className="flex flex-wrap items-center gap-2">
        <Lamp signal={isPersons ? 'waiting' : isOpen ? 'held' : 'done'} />
        {summary} <span className="kind">{reason.detail.replaceAll('_', ' ')}</span>
        {isOpen && severity !== 'info' && <span className="kind">{severity}</span>}
        {!isOpen && <span className="text-muted">{answerWords(gap)}</span>}
      </p>
      {isPersons && (
        <div className="answers">
          {wantsLeave ? (
            <>
              <button
                type="button"
                className="button button-go"
                disabled={isBusy}
                onClick={() => say({ kind: 'approved', shown })}
              >
                Approve
              </button>
              <button
                type="button"
                className="button button-danger"
                disabled={isBusy}
                onClick={() => say({ kind: 'denied', shown })}
              >
                Deny
              </button>
            </>
          ) : (
            <>
              <input
                className="why"
                aria-label="Your answer"
                value={value}
                onChange={event => setValue(event.target.value)}
              />
              <button
                type="button"
                className="button button-go"
                disabled={isBusy || value === ''}
                onClick={() => say({ kind: 'answered', value, shown })}
              >
                Answer
              </button>
            </>
          )}
        </div>
      )}
      {error !== undefined && <ErrorBox error={error} title="The answer was not taken" />}
    </section>
  );
}

/** What closed a gap, as far as it is told. */
function answerWords({ answer }: SessionGap): string {
  if (answer === undefined) return 'closed';
  const { kind, value, note } = answer;
  const said = typeof value === 'string' ? value : typeof note === 'string' ? note : undefined;
  return said === undefined ? kind : `${kind}: ${said}`;
}

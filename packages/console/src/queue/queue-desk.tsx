import type { WireDecision } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { AnswerForm } from '../decisions/answer-form.tsx';
import { Proposal } from '../decisions/proposal.tsx';
import { useAnswer } from '../decisions/use-answer.ts';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Moment } from '../shell/moment.tsx';
import { useKeys } from '../shell/use-keys.ts';
import { kindWords } from '../story/kind-words.ts';
import { questionOf } from '../story/question.ts';
import { LedHere } from './led-here.tsx';

/** One decision, with everything a person should know before answering. */
export function QueueDesk({ decision }: { readonly decision: WireDecision }) {
  const client = useClient();
  const { runId: run } = decision;
  const { node, kind, askedAt, proposalHash } = decision.decision;
  const { data: snapshot } = useRead(['asking', run, proposalHash], () => client.run(run));
  const answering = useAnswer(decision);
  const [isModifying, setIsModifying] = useState(false);
  const question = questionOf(decision);
  const named = snapshot?.tree.find(({ id }) => id === node)?.label;
  const label = named ?? (decision.kind === 'guided' ? 'A guided agent' : node);
  useKeys({
    ...((question.wants.kind === 'approval' || question.wants.kind === 'permission') && {
      a: () => void answering.say({ kind: 'approve' }),
    }),
    d: () => void answering.say({ kind: 'deny' }),
    ...(question.args !== undefined && { m: () => setIsModifying(true) }),
  });
  return (
    <article className="desk" aria-label={`${label} ${kindWords[kind]}`}>
      <header>
        <p className="eyebrow">
          {decision.sessionId === undefined ? (
            <Link to="/runs/$run" params={{ run }} search={{ node }}>
              {snapshot?.record.name ?? run.slice(-8)}
            </Link>
          ) : (
            <Link to="/workflows" search={{ session: decision.sessionId }}>
              {snapshot?.record.name ?? 'a guided session'}
            </Link>
          )}
          {' · asked '}
          <Moment at={askedAt} />
        </p>
        <h2>
          {label} {kindWords[kind]}
        </h2>
      </header>
      <Proposal question={question} />
      <AnswerForm question={question} answering={answering} isModifying={isModifying} onModifying={setIsModifying} />
      {decision.sessionId === undefined ? (
        <LedHere decision={decision} snapshot={snapshot} />
      ) : (
        <p className="text-muted">
          What led here is in{' '}
          <Link to="/workflows" search={{ session: decision.sessionId, place: node }}>
            its session
          </Link>
          , with the notes of every step.
        </p>
      )}
    </article>
  );
}

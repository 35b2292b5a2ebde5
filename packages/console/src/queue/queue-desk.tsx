import type { WireDecision } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answerActions, answerKeys } from '../decisions/answer-actions.ts';
import { AnswerForm, type AnswerMode } from '../decisions/answer-form.tsx';
import { Evidence } from '../decisions/evidence.tsx';
import { Proposal } from '../decisions/proposal.tsx';
import { useAnswer } from '../decisions/use-answer.ts';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Moment } from '../shell/moment.tsx';
import { usePageActions } from '../shell/page-actions.ts';
import { kindWords } from '../story/kind-words.ts';
import { headlineOf, questionOf } from '../story/question.ts';
import { LedHere } from './led-here.tsx';

/** One decision, with everything a person should know before answering. */
export function QueueDesk({ decision }: { readonly decision: WireDecision }) {
  const client = useClient();
  const { runId: run } = decision;
  const { node, kind, askedAt, proposalHash } = decision.decision;
  const { data: snapshot } = useRead(['asking', run, proposalHash], () => client.run(run));
  const answering = useAnswer(decision);
  const [mode, setMode] = useState<AnswerMode>('answer');
  const question = questionOf(decision);
  const named = snapshot?.tree.find(({ id }) => id === node)?.label;
  const label = named ?? (decision.kind === 'guided' ? 'A guided agent' : node);
  const headline = headlineOf(decision);
  usePageActions(answerActions({ question, headline, answering, keys: answerKeys, onMode: setMode }));
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
      <Evidence decision={decision} question={question} asker={label} snapshot={snapshot} />
      <AnswerForm question={question} answering={answering} asker={label} mode={mode} onMode={setMode} />
      {decision.sessionId === undefined ? (
        <LedHere decision={decision} snapshot={snapshot} />
      ) : (
        <p className="text-muted">
          The context is in{' '}
          <Link to="/workflows" search={{ session: decision.sessionId, place: node }}>
            its session
          </Link>
          , with the notes of every step.
        </p>
      )}
    </article>
  );
}

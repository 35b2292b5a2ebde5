import type { WireDecision } from '@signalbox/model';
import { useState } from 'react';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { usePageActions } from '../shell/page-actions.ts';
import { kindWords } from '../story/kind-words.ts';
import { headlineOf, questionOf } from '../story/question.ts';
import { answerActions } from './answer-actions.ts';
import { AnswerForm, type AnswerMode } from './answer-form.tsx';
import { Evidence } from './evidence.tsx';
import { Proposal } from './proposal.tsx';
import { useAnswer } from './use-answer.ts';

interface DecisionCardProps {
  readonly decision: WireDecision;
  /** The label of the node that asks. */
  readonly label: string;
}

/** A decision with everything it is about. */
export function DecisionCard({ decision, label }: DecisionCardProps) {
  const { kind, askedAt } = decision.decision;
  const answering = useAnswer(decision);
  const [mode, setMode] = useState<AnswerMode>('answer');
  const question = questionOf(decision);
  const title = `${label} ${kindWords[kind]}`;
  const headline = headlineOf(decision);
  usePageActions(answerActions({ question, headline, answering, onMode: setMode }));
  return (
    <article className="decision" aria-label={title}>
      <header>
        <Lamp signal="waiting" size={16} />
        <h2>{title}</h2>
        <span className="text-muted">
          asked <Moment at={askedAt} />
        </span>
      </header>
      <Proposal question={question} />
      <Evidence decision={decision} question={question} asker={label} />
      <AnswerForm question={question} answering={answering} asker={label} mode={mode} onMode={setMode} />
    </article>
  );
}

import type { WireDecision } from '@signalbox/model';
import { useState } from 'react';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { kindWords } from '../story/kind-words.ts';
import { questionOf } from '../story/question.ts';
import { AnswerForm } from './answer-form.tsx';
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
  const [isModifying, setIsModifying] = useState(false);
  const question = questionOf(decision);
  const title = `${label} ${kindWords[kind]}`;
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
      <AnswerForm question={question} answering={answering} isModifying={isModifying} onModifying={setIsModifying} />
    </article>
  );
}

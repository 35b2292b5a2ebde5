import type { WireDecision } from '@signalbox/model';
import { useState } from 'react';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { kindWords } from '../story/kind-words.ts';
import { questionOf } from '../story/question.ts';
import { Answers } from './answers.tsx';
import { ModifyForm } from './modify-form.tsx';
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
      {isModifying && question.args !== undefined ? (
        <ModifyForm
          args={question.args}
          answering={answering}
          agent={question.agent?.title}
          onClose={() => setIsModifying(false)}
        />
      ) : (
        <Answers
          question={question}
          answering={answering}
          {...(question.args !== undefined && { onModify: () => setIsModifying(true) })}
        />
      )}
      {answering.error !== undefined && <ErrorBox error={answering.error} title="Answer not accepted" />}
    </article>
  );
}

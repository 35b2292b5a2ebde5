import { ErrorBox } from '../shell/notices.tsx';
import type { Question } from '../story/question.ts';
import { Answers } from './answers.tsx';
import { ModifyForm } from './modify-form.tsx';
import type { Answering } from './use-answer.ts';

interface AnswerFormProps {
  readonly question: Question;
  readonly answering: Answering;
  /** Whether the person is changing the arguments of a call. */
  readonly isModifying: boolean;
  onModifying(isModifying: boolean): void;
}

/** The answers to a question, or the form for changed arguments. */
export function AnswerForm({ question, answering, isModifying, onModifying }: AnswerFormProps) {
  const { args, agent } = question;
  return (
    <>
      {isModifying && args !== undefined ? (
        <ModifyForm args={args} answering={answering} agent={agent?.title} onClose={() => onModifying(false)} />
      ) : (
        <Answers
          question={question}
          answering={answering}
          {...(args !== undefined && { onModify: () => onModifying(true) })}
        />
      )}
      {answering.error !== undefined && <ErrorBox error={answering.error} title="Answer not accepted" />}
    </>
  );
}

import { ErrorBox } from '../shell/notices.tsx';
import type { Question } from '../story/question.ts';
import { Answers } from './answers.tsx';
import { DenyForm } from './deny-form.tsx';
import { ModifyForm } from './modify-form.tsx';
import type { Answering } from './use-answer.ts';
import { words } from './words.ts';

interface AnswerFormProps {
  readonly question: Question;
  readonly answering: Answering;
  /** Who asks, by name. */
  readonly asker: string;
  /** Whether the person is changing the arguments of a call, or about to deny it. */
  readonly mode: AnswerMode;
  onMode(mode: AnswerMode): void;
}

export type AnswerMode = 'answer' | 'modify' | 'deny';

/** The answers to a question, or the form for changed arguments or a denial. */
export function AnswerForm({ question, answering, asker, mode, onMode }: AnswerFormProps) {
  const { args, agent } = question;
  const close = () => onMode('answer');
  return (
    <>
      {mode === 'modify' && args !== undefined ? (
        <ModifyForm args={args} answering={answering} agent={agent?.title} onClose={close} />
      ) : mode === 'deny' ? (
        <DenyForm question={question} asker={asker} answering={answering} onClose={close} />
      ) : (
        <Answers
          question={question}
          answering={answering}
          onDeny={() => onMode('deny')}
          {...(args !== undefined && { onModify: () => onMode('modify') })}
        />
      )}
      {answering.error !== undefined && <ErrorBox error={answering.error} title={words.refused} />}
    </>
  );
}

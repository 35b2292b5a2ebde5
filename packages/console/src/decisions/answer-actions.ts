import type { PageAction } from '../shell/page-actions.ts';
import type { Question } from '../story/question.ts';
import type { AnswerMode } from './answer-form.tsx';
import type { Answering } from './use-answer.ts';
import { words } from './words.ts';

/** Keys of answers; only where one question alone is on the page. */
export const answerKeys = { approve: 'a', deny: 'd', modify: 'm' } as const;

interface AnswerActionsOptions {
  readonly question: Question;
  readonly headline: string;
  readonly answering: Answering;
  readonly keys?: typeof answerKeys;
  onMode(mode: AnswerMode): void;
}

/** The possible answers to a question, for the palette. */
export function answerActions({ question, headline, answering, keys, onMode }: AnswerActionsOptions): PageAction[] {
  const { wants, args } = question;
  const { say } = answering;
  const keyed = (key: keyof typeof answerKeys) => (keys === undefined ? {} : { key: keys[key] });
  return [
    ...(wants.kind === 'approval' || (wants.kind === 'permission' && keys !== undefined)
      ? [{ name: `${words.approve}: ${headline}`, ...keyed('approve'), act: () => void say({ kind: 'approve' }) }]
      : []),
    ...(wants.kind === 'option' || wants.kind === 'permission'
      ? wants.options.map(({ id, label }) => ({
          name: words.choose(label),
          act: () => void say(id === undefined ? { kind: 'approve', always: true } : { kind: 'choose', option: id }),
        }))
      : []),
    { name: `${words.deny}: ${headline}`, ...keyed('deny'), act: () => onMode('deny') },
    ...(args === undefined
      ? []
      : [{ name: `${words.modify}: ${headline}`, ...keyed('modify'), act: () => onMode('modify') }]),
  ];
}

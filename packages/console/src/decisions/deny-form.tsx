import type { FormEvent } from 'react';
import type { Question } from '../story/question.ts';
import type { Answering } from './use-answer.ts';
import { noWords, words } from './words.ts';

interface DenyFormProps {
  readonly question: Question;
  /** Who asks, by name. */
  readonly asker: string;
  readonly answering: Answering;
  onClose(): void;
}

/** Asks for a reason before a denial, and says what the denial does. */
export function DenyForm({ question, asker, answering, onClose }: DenyFormProps) {
  const { isBusy, why, setWhy, say } = answering;
  const isCall = question.args !== undefined || question.agent !== undefined;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (await say({ kind: 'deny' })) onClose();
  };
  return (
    <form
      onSubmit={send}
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
      className="deny"
      aria-label={words.denyTitle}
    >
      <p>{noWords(question, asker)}</p>
      <label>
        <span className="text-muted">{isCall ? words.denyReason : words.denyReasonPlan}</span>
        <input
          className="field"
          // biome-ignore lint/a11y/noAutofocus: it opens because the person pressed Deny, and is what comes next
          autoFocus
          value={why}
          maxLength={2000}
          onChange={event => setWhy(event.target.value)}
        />
      </label>
      <div className="answers">
        <button type="submit" className="button button-stop" disabled={isBusy}>
          {words.deny}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {words.cancel}
        </button>
      </div>
    </form>
  );
}

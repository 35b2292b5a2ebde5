import { offered } from '../shell/page-actions.ts';
import type { PermissionOption } from '../story/permission.ts';
import type { Question } from '../story/question.ts';
import type { Answering, Saying } from './use-answer.ts';
import { ValueForm } from './value-form.tsx';
import { words } from './words.ts';

interface AnswersProps {
  readonly question: Question;
  readonly answering: Answering;
  /** Opens the form that asks why. */
  onDeny(): void;
  /** Opens the form for other arguments, if there is one. */
  onModify?(): void;
}

/** The possible answers to a decision. */
export function Answers({ question: { wants, held }, answering, onDeny, onModify }: AnswersProps) {
  const { isBusy, why, setWhy, say } = answering;
  // Its own options have a way to say no.
  const hasNo =
    wants.kind === 'permission'
      ? wants.options.some(({ kind }) => kind === 'reject_once')
      : wants.kind === 'option' && held !== undefined;
  return (
    <>
      {wants.kind === 'value' && (
        <ValueForm schema={wants.schema} isBusy={isBusy} onValue={value => say({ kind: 'approve', value })} />
      )}
      {wants.kind === 'permission' && (
        <ul className="options" aria-label="The agent’s own options">
          {wants.options.map(option => (
            <li key={option.id ?? 'ours'}>
              <button
                type="button"
                className={`option option-${option.kind.startsWith('allow') ? 'yes' : 'no'}`}
                disabled={isBusy}
                onClick={() => say(sayingOf(option))}
              >
                <strong>{option.label}</strong>
                <span>{option.does}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {wants.kind === 'option' && (
        <ul className="options">
          {wants.options.map(({ id, label, notes, does }) => (
            <li key={id}>
              <button
                type="button"
                className="option"
                disabled={isBusy}
                onClick={() => say({ kind: 'choose', option: id })}
              >
                <strong>{label}</strong>
                {does !== undefined && <span>{does}</span>}
                {notes.map(([name, note]) => (
                  <span key={name}>
                    <span className="eyebrow">{name}</span> {note}
                  </span>
                ))}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="answers" {...offered}>
        {wants.kind === 'approval' && (
          <button type="button" className="button button-go" disabled={isBusy} onClick={() => say({ kind: 'approve' })}>
            {words.approve}
          </button>
        )}
        {!hasNo && (
          <button type="button" className="button button-danger" disabled={isBusy} onClick={onDeny}>
            {words.denyAsk}
          </button>
        )}
        {onModify !== undefined && (
          <button type="button" className="button" disabled={isBusy} onClick={onModify}>
            {words.modify}
          </button>
        )}
        <input
          className="why"
          aria-label={words.reason}
          placeholder={words.reason}
          value={why}
          maxLength={2000}
          onChange={event => setWhy(event.target.value)}
        />
      </div>
    </>
  );
}

function sayingOf({ id }: PermissionOption): Saying {
  return id === undefined ? { kind: 'approve', always: true } : { kind: 'choose', option: id };
}

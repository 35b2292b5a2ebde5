import type { Question } from '../story/question.ts';
import type { Answering } from './use-answer.ts';
import { ValueForm } from './value-form.tsx';

interface AnswersProps {
  readonly question: Question;
  readonly answering: Answering;
  /** Opens the form for other arguments, if there is one. */
  onModify?(): void;
}

/** The possible answers to a decision. */
export function Answers({ question: { wants }, answering, onModify }: AnswersProps) {
  const { isBusy, why, setWhy, say } = answering;
  return (
    <>
      {wants.kind === 'value' && (
        <ValueForm schema={wants.schema} isBusy={isBusy} onValue={value => say({ kind: 'approve', value })} />
      )}
      {wants.kind === 'option' && (
        <ul className="options">
          {wants.options.map(({ id, label, notes }) => (
            <li key={id}>
              <button
                type="button"
                className="option"
                disabled={isBusy}
                onClick={() => say({ kind: 'choose', option: id })}
              >
                <strong>{label}</strong>
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
      <div className="answers">
        {wants.kind === 'approval' && (
          <button type="button" className="button button-go" disabled={isBusy} onClick={() => say({ kind: 'approve' })}>
            Approve
          </button>
        )}
        <button type="button" className="button button-danger" disabled={isBusy} onClick={() => say({ kind: 'deny' })}>
          Deny
        </button>
        {onModify !== undefined && (
          <button type="button" className="button" disabled={isBusy} onClick={onModify}>
            Modify…
          </button>
        )}
        <input
          className="why"
          aria-label="Reason (optional)"
          placeholder="Reason (optional)"
          value={why}
          maxLength={2000}
          onChange={event => setWhy(event.target.value)}
        />
      </div>
    </>
  );
}

import type { ErrorEnvelope } from '@signalbox/model';
import { ErrorBox } from './notices.tsx';

interface FormFootProps {
  readonly error: ErrorEnvelope | undefined;
  /** The button that sends the form. */
  readonly label: string;
  readonly isDestructive?: boolean;
  readonly isDisabled: boolean;
  onClose(): void;
}

/** The end of a form in a dialog: why it failed, and its buttons. */
export function FormFoot({ error, label, isDestructive = false, isDisabled, onClose }: FormFootProps) {
  return (
    <>
      {error !== undefined && <ErrorBox error={error} title="Action failed" />}
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          className={`button ${isDestructive ? 'button-stop' : 'button-main'}`}
          disabled={isDisabled}
        >
          {label}
        </button>
      </div>
    </>
  );
}

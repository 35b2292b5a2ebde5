import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';

interface ConfirmProps {
  readonly title: string;
  /** The label of the confirming button. */
  readonly word: string;
  onConfirm(): void;
  onClose(): void;
  readonly children: ReactNode;
}

/** Asks before an action that cannot be undone: once to arm it, once to do it. */
export function Confirm({ title, word, onConfirm, onClose, children }: ConfirmProps) {
  const [isArmed, setIsArmed] = useState(false);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="flex flex-col gap-3">{children}</div>
      <label className="arm">
        <input type="checkbox" checked={isArmed} onChange={event => setIsArmed(event.target.checked)} />I understand
        that this cannot be undone
      </label>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button button-stop"
          disabled={!isArmed}
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {word}
        </button>
      </div>
    </Dialog>
  );
}

import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';

interface ConfirmProps {
  readonly title: string;
  /** The label of the confirming button. */
  readonly word: string;
  /** Whether it takes nothing away that cannot be had back: then one click does it. */
  readonly isSafe?: boolean;
  onConfirm(): void;
  onClose(): void;
  readonly children: ReactNode;
}

/** Asks before an action: one that cannot be undone is armed first. */
export function Confirm({ title, word, isSafe = false, onConfirm, onClose, children }: ConfirmProps) {
  const [isArmed, setIsArmed] = useState(false);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="flex flex-col gap-3">{children}</div>
      {!isSafe && (
        <label className="arm">
          <input type="checkbox" checked={isArmed} onChange={event => setIsArmed(event.target.checked)} />I understand
          this can't be undone
        </label>
      )}
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button button-stop"
          disabled={!isArmed && !isSafe}
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

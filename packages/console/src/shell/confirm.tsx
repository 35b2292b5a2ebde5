import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';

interface ConfirmProps {
  readonly title: string;
  /** The word on the button that does it. */
  readonly word: string;
  onConfirm(): void;
  onClose(): void;
  readonly children: ReactNode;
}

/** Asks before something that cannot be taken back: once to arm it, once to do it. */
export function Confirm({ title, word, onConfirm, onClose, children }: ConfirmProps) {
  const [isArmed, setIsArmed] = useState(false);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="flex flex-col gap-3">{children}</div>
      <label className="arm">
        <input type="checkbox" checked={isArmed} onChange={event => setIsArmed(event.target.checked)} />I know that this
        cannot be taken back
      </label>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          Leave it
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

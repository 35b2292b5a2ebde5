import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface DialogProps {
  readonly title: string;
  readonly className?: string;
  /** Shows the title to those who do not see the page only. */
  readonly isBare?: boolean;
  onClose(): void;
  readonly children: ReactNode;
}

/** The browser's own dialog: it keeps the focus, gives it back, and closes with Escape. */
export function Dialog({ title, className = '', isBare = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Closed before it leaves the page: afterwards the browser no longer knows where the focus came from.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it already
    <dialog
      ref={dialog}
      className={`dialog ${className}`}
      aria-labelledby={id}
      onClose={onClose}
      onClick={event => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="dialog-inside">
        <h2 id={id} className={isBare ? 'sr-only' : 'dialog-title'}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}

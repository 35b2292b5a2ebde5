import { useState } from 'react';

/** Puts a text where the person can paste it from. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isDone, setIsDone] = useState(false);
  return (
    <button
      type="button"
      className="copy"
      aria-label={label}
      title={label}
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setIsDone(true);
        setTimeout(() => setIsDone(false), 1500);
      }}
    >
      {isDone ? 'copied' : 'copy'}
    </button>
  );
}

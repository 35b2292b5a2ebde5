import type { Json } from '@signalbox/model';

const SHOWN = 200_000;

/** A value as text: nothing of it is taken for anything else. What is too long to read is cut, and says so. */
export function JsonView({ value, className = 'code' }: { readonly value: Json; readonly className?: string }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <pre className={className}>
      {text.length > SHOWN ? `${text.slice(0, SHOWN)}\n… ${text.length - SHOWN} more characters` : text}
    </pre>
  );
}

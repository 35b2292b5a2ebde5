import type { Signal } from '../story/words.ts';

/** A status, shown by form as well as by colour. The word beside it is for screen readers. */
export function Lamp({ signal, size = 14 }: { readonly signal: Signal; readonly size?: number }) {
  return (
    <svg className={`lamp lamp-${signal}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {forms[signal]}
    </svg>
  );
}

const ring = <circle cx="8" cy="8" r="5.25" className="lamp-line" />;
const disc = <circle cx="8" cy="8" r="6" className="lamp-fill" />;

const forms: Record<Signal, React.ReactNode> = {
  idle: <circle cx="8" cy="8" r="3.5" className="lamp-line" />,
  next: (
    <>
      {ring}
      <circle cx="8" cy="8" r="1.75" className="lamp-fill" />
    </>
  ),
  working: (
    <>
      {ring}
      <path d="M8 2.75a5.25 5.25 0 0 1 5.25 5.25" className="lamp-turn" />
      <circle cx="8" cy="8" r="2.5" className="lamp-fill" />
    </>
  ),
  waiting: (
    <>
      {disc}
      <path d="M8 4.6v4" className="lamp-cut" />
      <circle cx="8" cy="11.2" r="1" className="lamp-dot" />
    </>
  ),
  held: (
    <>
      {ring}
      <path d="M6.4 5.8v4.4M9.6 5.8v4.4" className="lamp-line" />
    </>
  ),
  done: (
    <>
      {disc}
      <path d="m5.3 8.2 1.9 1.9 3.5-3.9" className="lamp-cut" />
    </>
  ),
  failed: (
    <>
      {disc}
      <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" className="lamp-cut" />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="5.2" r="2.6" className="lamp-fill" />
      <path d="M3.2 13.5a4.8 4.8 0 0 1 9.6 0z" className="lamp-fill" />
    </>
  ),
  skipped: <path d="M3.5 8h9" className="lamp-line" strokeDasharray="2 2" />,
};

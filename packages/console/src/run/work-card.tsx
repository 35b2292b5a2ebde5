import type { ReactNode } from 'react';
import { Lamp } from '../shell/lamp.tsx';

interface WorkCardProps {
  /** Whether it is worked on, or held up by something. */
  readonly signal: 'working' | 'held';
  readonly label: string;
  readonly kind: string | undefined;
  /** Why it is held up. */
  readonly why?: string;
  /** How long it takes so far, or when it goes on. */
  readonly time: string | undefined;
  onCurrent(): void;
  readonly children?: ReactNode;
}

/** Work that is under way, or would be if nothing held it up. */
export function WorkCard({ signal, label, kind, why, time, onCurrent, children }: WorkCardProps) {
  return (
    <article className={`work work-${signal}`} aria-label={label}>
      <header>
        <Lamp signal={signal} />
        <button type="button" className="linklike" onClick={onCurrent}>
          {label}
        </button>
        <span className="kind">{kind}</span>
        {why !== undefined && <span>{why}</span>}
        <span className="mono text-faint">{time}</span>
      </header>
      {children}
    </article>
  );
}

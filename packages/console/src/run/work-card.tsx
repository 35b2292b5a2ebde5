import type { ReactNode } from 'react';
import { Lamp } from '../shell/lamp.tsx';

interface WorkCardProps {
  /** Whether it is running, or held up. */
  readonly signal: 'working' | 'held';
  readonly label: string;
  readonly kind: string | undefined;
  /** Why it is held up. */
  readonly why?: string;
  /** How long it has taken, or when it continues. */
  readonly time: string | undefined;
  onCurrent(): void;
  readonly children?: ReactNode;
}

/** Work that is running or held up. */
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

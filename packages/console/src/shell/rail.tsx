import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useLive } from '../server/live.tsx';
import { linkOf } from '../story/link.ts';
import type { PageLink } from './use-pages.ts';

const linkWords = {
  connecting: 'connecting',
  live: 'live',
  lost: 'reconnecting',
  ended: 'not connected',
  refused: 'not connected',
} as const;

interface RailProps {
  readonly pages: readonly PageLink[];
  readonly path: string;
  onPalette(): void;
}

/** The way around, drawn as a line with its stations. */
export function Rail({ pages, path, onPalette }: RailProps) {
  const stations = useRef<HTMLElement>(null);
  // Where the line is too long for the screen, the place where one is stays in view.
  useEffect(() => {
    const here = stations.current?.querySelector<HTMLElement>('[aria-current]');
    if (stations.current !== null && here)
      stations.current.scrollLeft = here.offsetLeft - stations.current.clientWidth / 2;
  }, [path, pages.length]);
  const { link } = useLive();
  const standing = linkOf(link);
  return (
    <header className="rail">
      <Link to="/" className="brand">
        <svg width="16" height="22" viewBox="0 0 16 22" aria-hidden="true">
          <rect x="2.5" y="0.5" width="11" height="17" rx="5.5" className="brand-case" />
          <circle cx="8" cy="5.5" r="2.4" className="brand-upper" />
          <circle cx="8" cy="12.5" r="2.4" className="brand-lower" />
          <path d="M8 18v4" className="brand-post" />
        </svg>
        Signalbox
      </Link>
      <nav ref={stations} aria-label="Pages" className="stations">
        {pages.map(({ to, name, count, about, signal }) => {
          const isHere = to === '/' ? path === '/' : path.startsWith(to);
          return (
            <Link key={to} to={to} className="station" data-signal={signal} aria-current={isHere ? 'page' : undefined}>
              <i className="station-mark" aria-hidden="true" />
              <span className="station-name">{name}</span>
              {count !== undefined && (
                <span className={`station-count station-${signal}`}>
                  {count}
                  <span className="sr-only"> {about}</span>
                </span>
              )}
            </Link>
          );
        })}
      </nav>
      <div className="rail-foot">
        <button type="button" className="button button-quiet rail-search" onClick={onPalette}>
          Go to… <kbd>Ctrl K</kbd>
        </button>
        <p className={`rail-link rail-${standing}`}>
          <i aria-hidden="true" />
          {linkWords[standing]}
        </p>
      </div>
    </header>
  );
}

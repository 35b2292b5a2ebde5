import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type RunsSearch, runsSearchOf } from '../story/runs-search.ts';

const KEY = 'signalbox.views';

/** Saved searches, in this browser; each is an address. */
export function SavedViews({ search }: { readonly search: RunsSearch }) {
  const [saved, setSaved] = useState(readSaved);
  const keep = (views: readonly RunsSearch[]) => {
    setSaved(views);
    localStorage.setItem(KEY, JSON.stringify(views));
  };
  const isHere = (view: RunsSearch) => JSON.stringify(view) === JSON.stringify(search);
  const canSave = Object.keys(search).length > 0 && !saved.some(isHere);
  if (saved.length === 0 && !canSave) return null;
  return (
    <div className="saved">
      {saved.map(view => (
        <span key={JSON.stringify(view)} className="saved-view" data-here={isHere(view) || undefined}>
          <Link to="/runs" search={view}>
            {nameOf(view)}
          </Link>
          <button
            type="button"
            aria-label={`Delete view ${nameOf(view)}`}
            onClick={() => keep(saved.filter(one => one !== view))}
          >
            ×
          </button>
        </span>
      ))}
      {canSave && (
        <button type="button" className="button button-small button-quiet" onClick={() => keep([...saved, search])}>
          Save view
        </button>
      )}
    </div>
  );
}

function nameOf({ view, q, tag, plan, project, since, from, to }: RunsSearch): string {
  const last = (path: string | undefined) => path?.split(/[\\/]/).at(-1);
  const days = from === undefined && to === undefined ? undefined : `${from ?? '…'} to ${to ?? '…'}`;
  return [view, q, tag, last(plan), last(project), since && `last ${since}`, days].filter(Boolean).join(' · ');
}

function readSaved(): readonly RunsSearch[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.map(runsSearchOf).filter(view => Object.keys(view).length > 0) : [];
  } catch {
    return [];
  }
}

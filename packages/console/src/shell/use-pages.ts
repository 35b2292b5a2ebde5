import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { newsSince, useNewsFrom } from '../briefing/since-last-look.ts';
import { useFleet } from '../fleet/fleet-live.tsx';
import { useLive } from '../server/live.tsx';
import { useSessions } from '../sessions/use-sessions.ts';
import { useSettings } from '../settings/settings.ts';
import { isIn } from '../story/runs-list.ts';
import type { Signal } from '../story/words.ts';

/** A page of the console, and its summary in the navigation. */
export interface PageLink {
  readonly to:
    | '/'
    | '/queue'
    | '/fleet'
    | '/controls'
    | '/runs'
    | '/find'
    | '/failures'
    | '/artifacts'
    | '/workflows'
    | '/start'
    | '/settings'
    | '/developer';
  readonly name: string;
  /** Pressed after `g`. */
  readonly key: string;
  readonly count?: number;
  /** What the count means. */
  readonly about?: string;
  readonly signal?: Signal;
  go(): void;
}

export function usePages(): readonly PageLink[] {
  const { runs, decisions } = useLive();
  const navigate = useNavigate();
  const working = runs?.filter(run => isIn('active', run)).length;
  // The same runs as in the briefing.
  const newsFrom = useNewsFrom(Date.now());
  const failed = runs && newsSince(runs, newsFrom).failed.length;
  const fleet = useFleet();
  const waiting = decisions && decisions.length + (fleet.decisions?.length ?? 0);
  const { developer } = useSettings();
  // A server without guided workflows has no sessions, and no page for them.
  const { data: sessions, error } = useSessions();
  const hasSessions = sessions !== undefined || error === null;
  const asking = sessions?.sessions.reduce((sum, session) => sum + session.waiting, 0);
  return useMemo(() => {
    const page = (to: PageLink['to'], name: string, key: string): PageLink => ({
      to,
      name,
      key,
      go: () => void navigate({ to }),
    });
    const counted = (link: PageLink, count: number | undefined, about: string, signal: Signal): PageLink =>
      count === undefined || count === 0 ? link : { ...link, count, about, signal };
    return [
      page('/', 'Briefing', 'b'),
      counted(page('/queue', 'Queue', 'q'), waiting, 'need you', 'waiting'),
      ...(fleet.isThere === true ? [page('/fleet', 'Fleet', 't'), page('/controls', 'Controls', 'c')] : []),
      counted(page('/runs', 'Runs', 'r'), working, 'running', 'working'),
      page('/find', 'Find', 'i'),
      counted(page('/failures', 'Failures', 'f'), failed, 'failed', 'failed'),
      page('/artifacts', 'Artifacts', 'a'),
      ...(hasSessions ? [counted(page('/workflows', 'Workflows', 'w'), asking, 'need you', 'waiting')] : []),
      page('/start', 'Start a run', 'n'),
      page('/settings', 'Settings', 's'),
      ...(developer ? [page('/developer', 'Developer', 'd')] : []),
    ];
  }, [asking, developer, failed, fleet.isThere, hasSessions, navigate, waiting, working]);
}

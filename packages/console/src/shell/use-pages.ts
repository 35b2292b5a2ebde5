import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useLive } from '../server/live.tsx';
import { useSessions } from '../sessions/use-sessions.ts';
import { useSettings } from '../settings/settings.ts';
import { isIn } from '../story/runs-list.ts';
import type { Signal } from '../story/words.ts';

/** A page of the console, and what there is to know of it from afar. */
export interface PageLink {
  readonly to:
    | '/'
    | '/queue'
    | '/runs'
    | '/failures'
    | '/artifacts'
    | '/workflows'
    | '/start'
    | '/settings'
    | '/developer';
  readonly name: string;
  /** After `g`. */
  readonly key: string;
  readonly count?: number;
  /** What the count is about. */
  readonly about?: string;
  readonly signal?: Signal;
  go(): void;
}

export function usePages(): readonly PageLink[] {
  const { runs, decisions } = useLive();
  const navigate = useNavigate();
  const working = runs?.filter(run => isIn('active', run)).length;
  const failed = runs?.filter(({ record }) => record.status === 'failed').length;
  const waiting = decisions?.length;
  const { developer } = useSettings();
  // A server without guided workflows has no sessions: then there is no page of them.
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
      counted(page('/queue', 'Queue', 'q'), waiting, 'wait for you', 'waiting'),
      counted(page('/runs', 'Runs', 'r'), working, 'at work', 'working'),
      counted(page('/failures', 'Failures', 'f'), failed, 'failed', 'failed'),
      page('/artifacts', 'Artifacts', 'a'),
      ...(hasSessions ? [counted(page('/workflows', 'Workflows', 'w'), asking, 'wait for you', 'waiting')] : []),
      page('/start', 'Start a run', 'n'),
      page('/settings', 'Settings', 's'),
      ...(developer ? [page('/developer', 'Developer', 'd')] : []),
    ];
  }, [asking, developer, failed, hasSessions, navigate, waiting, working]);
}

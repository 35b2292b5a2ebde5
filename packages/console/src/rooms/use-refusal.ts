import { useEffect } from 'react';
import type { Link } from '../story/run-story.ts';

/** Tells the page when the server does not know its token any more. */
export function useRefusal(link: Link, onRefused: () => void): void {
  const isRefused = link.status === 'ended' && link.error.code === 'request/unauthorized';
  useEffect(() => {
    if (isRefused) onRefused();
  }, [isRefused, onRefused]);
}

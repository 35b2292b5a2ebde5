import { useEffect, useState } from 'react';
import { useKeys } from './use-keys.ts';

/** A place in a list that `j` and `k` move; it stays with its item when the list changes. */
export function useCursor(ids: readonly string[], open?: (id: string) => void) {
  const [id, setId] = useState<string>();
  const at = id === undefined ? -1 : ids.indexOf(id);
  const move = (by: number) => {
    const to = at < 0 ? (by > 0 ? 0 : ids.length - 1) : Math.min(Math.max(at + by, 0), ids.length - 1);
    setId(ids[to]);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(open !== undefined && at >= 0 && { Enter: () => open(ids[at] ?? '') }),
  });
  useEffect(() => {
    if (id !== undefined)
      document.querySelector(`[data-item="${CSS.escape(id)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [id]);
  return { id: at < 0 ? undefined : id, at, setId };
}

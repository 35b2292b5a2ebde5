import type { WireDecision } from '@signalbox/model';
import { useEffect, useRef } from 'react';
import { useSettings } from '../settings/settings.ts';
import { headlineOf } from '../story/question.ts';

/** Rings when something new waits for a person and nobody looks at the page, if the person wanted that. */
export function useDoorbell(decisions: readonly WireDecision[] | undefined): void {
  const { notify } = useSettings();
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (decisions === undefined) return;
    const before = known.current;
    known.current = new Set(decisions.map(({ approvalId }) => approvalId));
    if (before === undefined || !notify || !document.hidden || !('Notification' in globalThis)) return;
    const fresh = decisions.filter(({ approvalId }) => !before.has(approvalId));
    const [first] = fresh;
    if (first === undefined || Notification.permission !== 'granted') return;
    const title = fresh.length === 1 ? 'Something waits for you' : `${fresh.length} things wait for you`;
    const ring = new Notification(title, { body: headlineOf(first), tag: 'signalbox.queue' });
    ring.onclick = () => {
      focus();
      ring.close();
    };
  }, [decisions, notify]);
  const waiting = decisions?.length ?? 0;
  useEffect(() => {
    document.documentElement.dataset.waiting = String(waiting);
  }, [waiting]);
}

import { isQuiet, type RunSummary, timeOfDay, type WireDecision } from '@signalbox/model';
import { useEffect, useRef } from 'react';
import type { Settings } from '../settings/read-settings.ts';
import { useSettings } from '../settings/settings.ts';
import { headlineOf } from '../story/question.ts';
import { useTitleBadge } from './title-badge.ts';

/** Notifies the person of what they want to know while the page is in the background, but not in quiet hours. */
export function useDoorbell(
  decisions: readonly WireDecision[] | undefined,
  runs: readonly RunSummary[] | undefined,
): void {
  const settings = useSettings();
  const known = useRef<ReadonlySet<string>>(undefined);
  const ended = useRef<ReadonlyMap<string, string>>(undefined);
  useEffect(() => {
    if (decisions === undefined) return;
    const before = known.current;
    known.current = new Set(decisions.map(({ approvalId }) => approvalId));
    if (before === undefined || !settings.notify || !canRing(settings)) return;
    const fresh = decisions.filter(({ approvalId }) => !before.has(approvalId));
    const [first] = fresh;
    if (first === undefined) return;
    ring(
      fresh.length === 1 ? 'A decision needs you' : `${fresh.length} decisions need you`,
      headlineOf(first),
      'queue',
    );
  }, [decisions, settings]);
  useEffect(() => {
    if (runs === undefined) return;
    const before = ended.current;
    ended.current = new Map(runs.map(({ id, record }) => [id, record.status]));
    if (before === undefined || !canRing(settings)) return;
    for (const { id, record } of runs) {
      const was = before.get(id);
      if (was === undefined || was === record.status) continue;
      if (record.status === 'failed' && settings.notifyFailed)
        ring(`${record.name} failed`, record.error?.message ?? '', id);
      if (record.status === 'completed' && settings.notifyDone) ring(`${record.name} completed`, '', id);
    }
  }, [runs, settings]);
  const waiting = decisions?.length ?? 0;
  useTitleBadge(waiting);
  useEffect(() => {
    document.documentElement.dataset.waiting = String(waiting);
  }, [waiting]);
}

function canRing({ quiet }: Settings): boolean {
  const isAllowed = 'Notification' in globalThis && Notification.permission === 'granted';
  return isAllowed && document.hidden && !isQuiet(quiet, timeOfDay(new Date()));
}

function ring(title: string, body: string, tag: string): void {
  const notification = new Notification(title, { body, tag: `signalbox.${tag}` });
  notification.onclick = () => {
    focus();
    notification.close();
  };
}

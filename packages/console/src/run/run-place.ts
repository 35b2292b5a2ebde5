import { defined } from '@signalbox/model';

/** The selection on a run's page, as in the address. */
export interface RunPlace {
  /** A past frame; without one, the page follows the run. */
  readonly frame?: number;
  /** The selected node. */
  readonly node?: string;
  readonly tab?: FrameTab;
  readonly look?: InspectorTab;
}

export const frameTabs = [
  'now',
  'transcript',
  'time',
  'plan',
  'state',
  'events',
  'spend',
  'files',
  'artifacts',
] as const;
export type FrameTab = (typeof frameTabs)[number];

export const inspectorTabs = ['summary', 'input', 'output', 'tools', 'logs', 'json', 'definition'] as const;
export type InspectorTab = (typeof inspectorTabs)[number];

/** An address may hold anything: unknown parts are dropped. */
export function runPlaceOf(given: Readonly<Record<string, unknown>>): RunPlace {
  const frame = Number.isSafeInteger(given.frame) && Number(given.frame) >= 0 ? Number(given.frame) : undefined;
  const node = typeof given.node === 'string' || typeof given.node === 'number' ? String(given.node) : undefined;
  const tab = frameTabs.find(name => name === given.tab);
  const look = inspectorTabs.find(name => name === given.look);
  return defined({ frame, node, tab, look });
}

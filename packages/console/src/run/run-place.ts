import { defined } from '@signalbox/model';
/** Where on the page of a run one is: the address says it. */
export interface RunPlace {
  /** The frame that is looked back at; without one the page follows what happens. */
  readonly frame?: number;
  /** The node that is looked at. */
  readonly node?: string;
  readonly tab?: FrameTab;
  readonly look?: InspectorTab;
}

export const frameTabs = ['now', 'plan', 'state', 'events', 'files', 'artifacts'] as const;
export type FrameTab = (typeof frameTabs)[number];

export const inspectorTabs = ['summary', 'input', 'output', 'tools', 'logs', 'json', 'definition'] as const;
export type InspectorTab = (typeof inspectorTabs)[number];

/** What an address says may be anything: what is not understood is left out. */
export function runPlaceOf(given: Readonly<Record<string, unknown>>): RunPlace {
  const frame = Number.isSafeInteger(given.frame) && Number(given.frame) >= 0 ? Number(given.frame) : undefined;
  const node = typeof given.node === 'string' || typeof given.node === 'number' ? String(given.node) : undefined;
  const tab = frameTabs.find(name => name === given.tab);
  const look = inspectorTabs.find(name => name === given.look);
  return defined({ frame, node, tab, look });
}

import { type RunId, type RunReader, type StoredEvent, type TreeNode, treeAt } from '@signalbox/app/host';
import type { RunView } from '../follow-run.ts';
import type { Paint } from '../terminal.ts';
import { openDisplay } from './live-display.ts';
import { factsAfter, NO_FACTS, type Saying } from './live-facts.ts';
import { liveScreen } from './live-screen.ts';
import type { Screen } from './screen.ts';

/** Reading trees takes at most this share of the time: watching a run must not slow it down. */
const READING_SHARE = 0.1;

/** A status reported since the tree was read, and its event. */
interface Told {
  readonly status: NonNullable<TreeNode['status']>;
  readonly seq: number;
}

/** A run as a tree, redrawn in place while the run is active. */
export function liveViewOf(screen: Screen, reader: RunReader, run: RunId, paint: Paint): RunView {
  let facts = NO_FACTS;
  let tree: TreeNode | undefined;
  let told = new Map<string, Told>();
  // Received since the last drawing.
  let events: StoredEvent[] = [];
  let sayings: Saying[] = [];
  let hasOtherNodes = true;
  let reading: Promise<void> | undefined;
  let readAgainAt = 0;
  let isOver = false;

  /** Statuses come with events; the tree is read again only when its nodes change. */
  async function read(): Promise<void> {
    const begun = screen.now();
    hasOtherNodes = false;
    const { frames, nextSeq } = (await reader.run(run)) ?? { frames: 0, nextSeq: 0 };
    const found = frames === 0 ? undefined : await treeAt(reader, run, frames);
    if (found !== undefined) {
      tree = found;
      told = new Map([...told].filter(([, { seq }]) => seq >= nextSeq));
    }
    const now = screen.now();
    readAgainAt = now + (now - begun) / READING_SHARE;
    reading = undefined;
  }

  function takeIn(): void {
    for (const { event } of events) {
      if (event.type === 'node.status') told.set(event.node, { status: event.to, seq: event.seq });
      if (event.type === 'frame.committed' && event.mounted + event.unmounted > 0) hasOtherNodes = true;
    }
    facts = factsAfter(facts, events, sayings);
    events = [];
    sayings = [];
  }

  const display = openDisplay(screen, (size, now) => {
    takeIn();
    if (hasOtherNodes && reading === undefined && now >= readAgainAt) {
      reading = read();
      // Errors are thrown at the end, to the caller that follows the run.
      reading.catch(() => {});
    }
    return tree === undefined ? [] : liveScreen(withStatuses(tree, told), facts, size, now, paint, isOver);
  });
  return {
    async events(more) {
      events.push(...more);
    },
    said(more) {
      sayings.push(...more);
    },
    async close() {
      takeIn();
      try {
        await reading;
        await read();
      } finally {
        isOver = true;
        display.close();
      }
    },
  };
}

function withStatuses(node: TreeNode, told: ReadonlyMap<string, Told>): TreeNode {
  if (told.size === 0) return node;
  const status = told.get(node.id)?.status ?? node.status;
  const children = node.children.map(child => withStatuses(child, told));
  return { ...node, ...(status !== undefined && { status }), children };
}

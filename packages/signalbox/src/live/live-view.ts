import { type RunId, type RunReader, type TreeNode, treeAt } from '@signalbox/app/runs';
import type { RunView } from '../follow-run.ts';
import type { Paint } from '../terminal.ts';
import { openDisplay } from './live-display.ts';
import { factsAfter, NO_FACTS } from './live-facts.ts';
import { liveScreen } from './live-screen.ts';
import type { Screen } from './screen.ts';

/** A run as a tree that is drawn again in place while it goes on. */
export function liveViewOf(screen: Screen, reader: RunReader, run: RunId, paint: Paint): RunView {
  let facts = NO_FACTS;
  let tree: TreeNode | undefined;
  let isStale = false;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    while (isStale) {
      isStale = false;
      const { frames } = (await reader.run(run)) ?? { frames: 0 };
      const found = frames === 0 ? undefined : await treeAt(reader, run, frames);
      if (found?.ok) tree = found.value;
    }
  }
  /** The tree is read when it is drawn, not with every event, and never twice at once. */
  const refresh = () => {
    if (!isStale) return reading;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const display = openDisplay(screen, (size, now) => {
    void refresh();
    return tree === undefined ? [] : liveScreen(tree, facts, size, now, paint);
  });
  return {
    async events(events) {
      facts = factsAfter(facts, events);
      isStale = true;
    },
    said(said) {
      facts = factsAfter(facts, [], said);
    },
    async close() {
      await refresh();
      await refresh();
      display.close();
    },
  };
}

import type { Machine, TurnSurface } from '@signalbox/app/host';
import type { TurnServer } from '@signalbox/server';

/** The server of agents' turns. Its packages are loaded when the first agent needs it: most commands never do. */
export function lazyTurnServer(timers: Machine['timers']): TurnSurface & { close(): Promise<void> } {
  let opening: Promise<TurnServer> | undefined;
  return {
    async offer(tools) {
      opening ??= import('@signalbox/server').then(({ createTurnServer }) => createTurnServer({ timers }));
      return (await opening).offer(tools);
    },
    async close() {
      await (await opening)?.close();
    },
  };
}

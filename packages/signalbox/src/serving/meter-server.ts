import type { MeterEdge } from '@signalbox/app/host';

/** The gateway to agents' models. Its packages are loaded when the first agent needs it: most commands never do. */
export function lazyMeterServer(): MeterEdge {
  let opening: Promise<MeterEdge> | undefined;
  return {
    async listen(door) {
      opening ??= import('@signalbox/server').then(({ createMeterServer }) => createMeterServer());
      return (await opening).listen(door);
    },
    async close() {
      await (await opening)?.close();
    },
  };
}

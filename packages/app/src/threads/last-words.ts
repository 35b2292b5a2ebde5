import type { ThrownPlace } from '@signalbox/model';
import { thrownPlace } from '@signalbox/plan';

/** Reports where the code of a plan ends this thread: an exception that nobody catches, or a call of `process.exit`. */
export function reportEnd(clean: Parameters<typeof thrownPlace>[2], tell: (place: ThrownPlace) => void): void {
  const report = (thrown: unknown) => {
    try {
      const place = thrownPlace(thrown, {}, clean);
      if (place !== undefined) tell(place);
    } catch {
      // The thread ends as it would have.
    }
  };
  process.on('uncaughtExceptionMonitor', report);
  for (const name of ['exit', 'reallyExit'] as const) {
    const ended = process as unknown as Record<string, (code?: number) => never>;
    const original = ended[name];
    ended[name] = code => {
      report(new Error(name));
      return original?.call(process, code) as never;
    };
  }
}

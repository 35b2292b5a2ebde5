import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';

type Release = () => void;
export type LockMode = 'shared' | 'exclusive';
export type LockError = ErrorEnvelope<'state/lock-canceled' | 'state/lock-failed'>;

/**
 * Serialises work on equal or nested directories. `exclusive` excludes all other work on the same path, above it and below
 * it; `shared` excludes only exclusive work there. Paths are real and absolute.
 */
export interface PathLocks {
  acquire(path: string, mode: LockMode, signal?: AbortSignal): Promise<Result<Release, LockError>>;
}

/**
 * Within one process: first come, first served.
 *
 * Invariant: a request runs as soon as nothing that it excludes is held or was requested earlier. It never holds one path
 * while waiting for another, so there is no deadlock.
 */
export function createPathLocks(): PathLocks {
  const requests: Request[] = [];

  const wake = () => {
    for (const [index, request] of requests.entries()) {
      if (request.held || requests.slice(0, index).some(earlier => excludes(earlier, request))) continue;
      request.held = true;
      request.grant();
    }
  };
  const drop = (request: Request) => {
    const index = requests.indexOf(request);
    if (index >= 0) requests.splice(index, 1);
    wake();
  };

  return {
    acquire: (path, mode, signal) =>
      new Promise(resolve => {
        if (signal?.aborted) return resolve(err(canceled(path)));
        const cancel = () => {
          if (request.held) return;
          drop(request);
          resolve(err(canceled(path)));
        };
        const request: Request = {
          path,
          mode,
          held: false,
          grant() {
            signal?.removeEventListener('abort', cancel);
            resolve(ok(() => drop(request)));
          },
        };
        signal?.addEventListener('abort', cancel, { once: true });
        requests.push(request);
        wake();
      }),
  };
}

interface Request {
  readonly path: string;
  readonly mode: LockMode;
  held: boolean;
  grant(): void;
}

function excludes(a: Request, b: Request): boolean {
  if (a.mode === 'shared' && b.mode === 'shared') return false;
  return overlap(a.path, b.path);
}

export function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || ancestor === '/' || path.startsWith(`${ancestor}/`);
}

/** Whether one is the other, or inside it. */
export function overlap(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function canceled(path: string): LockError {
  return failure('state/lock-canceled', {
    message: `waiting for the directory ${path} was canceled`,
    suggestion: 'Nothing was run. Try again.',
    retry: { kind: 'retryable_immediate' },
  });
}

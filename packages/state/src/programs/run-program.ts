import { startProgram } from './start-program.ts';

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  /** Timeout after which it is killed. */
  readonly timeoutMs?: number;
  /** Written to its standard input, which then ends; without it, it has none. */
  readonly input?: string;
  /** Output limit; a program that exceeds it is killed. */
  readonly maxBytes?: number;
  /** Kills it and everything it started. With a signal, the program has a process group of its own. */
  readonly signal?: AbortSignal;
}

export interface ProgramAnswer {
  /** Undefined if it could not be started or was killed. */
  readonly code: number | undefined;
  readonly out: string;
  readonly said: string;
}

const MAX_BYTES = 1 << 20;

/** Runs a system program to its end, without our descriptors. Never rejects. */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<ProgramAnswer> {
  const { cwd = '/', env, timeoutMs, maxBytes = MAX_BYTES, signal, input } = options;
  if (signal?.aborted === true) return Promise.resolve({ code: undefined, out: '', said: CANCELED });
  return new Promise(resolve => {
    const detached = signal !== undefined;
    const child = startProgram(program, args, {
      cwd,
      env,
      detached,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    // A program that ends without reading is no fault of ours.
    child.stdin?.on('error', () => undefined).end(input);
    const kill = () => {
      if (detached && child.pid !== undefined) killGroup(child.pid);
      else child.kill('SIGKILL');
    };
    signal?.addEventListener('abort', kill, { once: true });
    const heard: { readonly [name in 'out' | 'said']: Buffer[] } = { out: [], said: [] };
    let bytes = 0;
    const hear = (chunks: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else kill();
    };
    child.stdout?.on('data', hear(heard.out));
    child.stderr?.on('data', hear(heard.said));
    const timer = timeoutMs === undefined ? undefined : setTimeout(kill, timeoutMs);
    const end = (code: number | null, reason = '') => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      const said = Buffer.concat(heard.said).toString();
      resolve({ code: code ?? undefined, out: Buffer.concat(heard.out).toString(), said: said === '' ? reason : said });
    };
    child.once('error', cause => end(null, cause.message));
    child.once('close', (code, signal) => end(code, signal === null ? '' : `it was ended (${signal})`));
  });
}

const CANCELED = 'it was canceled';

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

import { startProgram } from './start-program.ts';

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  /** Timeout after which it is killed. */
  readonly timeoutMs?: number;
  /** Output limit; a program that exceeds it is killed. */
  readonly maxBytes?: number;
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
  const { cwd = '/', env, timeoutMs, maxBytes = MAX_BYTES } = options;
  return new Promise(resolve => {
    const child = startProgram(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const heard: { readonly [name in 'out' | 'said']: Buffer[] } = { out: [], said: [] };
    let bytes = 0;
    const hear = (chunks: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else child.kill('SIGKILL');
    };
    child.stdout?.on('data', hear(heard.out));
    child.stderr?.on('data', hear(heard.said));
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const end = (code: number | null, reason = '') => {
      clearTimeout(timer);
      const said = Buffer.concat(heard.said).toString();
      resolve({ code: code ?? undefined, out: Buffer.concat(heard.out).toString(), said: said === '' ? reason : said });
    };
    child.once('error', cause => end(null, cause.message));
    child.once('close', (code, signal) => end(code, signal === null ? '' : `it was ended (${signal})`));
  });
}

import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ErrorEnvelope, err, failure, type Result } from '@signalbox/model';
import { detectSandbox, NO_RULES, type SandboxDetection } from '@signalbox/state';
import * as z from 'zod';
import { planLost } from '../host/plan-lost.ts';
import { hiddenPlaces, ownFiles } from './hidden-places.ts';
import type { ReplayVerdict } from './verify-replay.ts';

export interface ConfinedOptions {
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
  /** Further places that its code must not see: a data directory. */
  readonly hidden?: readonly string[] | undefined;
  /** Finds the sandbox of this machine. */
  readonly detect?: (() => Promise<SandboxDetection>) | undefined;
}

/** Sources run with stripped types; the built program has its own entry beside it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './replay-child.ts' : './replay-child.js';

/** The file that the child process reads in its only directory, and the one that it writes there. */
export const BUNDLE = 'run.bundle';
export const VERDICT = 'verdict.json';
const MAX_VERDICT_BYTES = 64 * 1024 * 1024;

/** Validated as far as it is used here: the bundle's code may have written it. */
const answer = z.union([
  z.object({
    ok: z.literal(true),
    value: z.object({ ok: z.boolean(), run: z.string(), runs: z.array(z.looseObject({})) }),
  }),
  z.object({ ok: z.literal(false), error: z.looseObject({ code: z.string(), message: z.string() }) }),
]);

/**
 * Replays the run in a bundle, in a separate process without network, without anyone's home, and with only a temporary directory to write
 * to. The bundle is read there too.
 */
export async function replayConfined(
  bundle: string,
  { signal, hidden = [], detect = detectSandbox }: ConfinedOptions,
): Promise<Result<ReplayVerdict, ErrorEnvelope>> {
  const sandbox = await detect();
  if (!sandbox.ok) return err(notConfined(bundle, sandbox.error));
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'signalbox-replay-')));
  try {
    copyFileSync(bundle, path.join(root, BUNDLE));
    const entry = realpathSync(fileURLToPath(new URL(ENTRY, import.meta.url)));
    const node = realpathSync(process.execPath);
    const own = ownFiles(entry, node);
    const running = sandbox.value.start({
      command: [node, '--disable-warning=ExperimentalWarning', entry, root],
      root,
      refused: hiddenPlaces(own, hidden),
      rules: { ...NO_RULES, read: [...own] },
      env: {},
    });
    let said = '';
    running.onOutput(chunk => {
      if (said.length < MAX_SAID) said += chunk.toString();
    });
    const end = () => running.kill();
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    const ended = await running.ended;
    signal?.removeEventListener('abort', end);
    return (
      verdictOf(root, bundle) ??
      err(planLost(bundle, `its process ended without an answer (${ended.kind}) ${said.trim()}`))
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const MAX_SAID = 2000;

function verdictOf(root: string, bundle: string): Result<ReplayVerdict, ErrorEnvelope> | undefined {
  const file = path.join(root, VERDICT);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.size > MAX_VERDICT_BYTES) return undefined;
  try {
    const inJson = (name: string) => JSON.stringify(name).slice(1, -1);
    const text = readFileSync(file, 'utf8').replaceAll(inJson(path.join(root, BUNDLE)), inJson(bundle));
    // The schema leaves open what only the verdict's reader looks into.
    return answer.parse(JSON.parse(text)) as unknown as Result<ReplayVerdict, ErrorEnvelope>;
  } catch {
    return undefined;
  }
}

function notConfined(bundle: string, { message, suggestion }: ErrorEnvelope): ErrorEnvelope<'run/foreign-plan'> {
  return failure('run/foreign-plan', {
    message: `The plan in ${bundle} is somebody else's code and was not run: ${message}.`,
    suggestion: `${suggestion} If you trust its author, run it unconfined with --trust.`,
  });
}

import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { digest, type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import type { Decision } from '@signalbox/runs';
import { type HeldChanges, openHostContentStore } from '@signalbox/state';
import * as z from 'zod';
import { git } from '../workspaces/git.ts';

const version = z.object({ digest: digest.optional(), size: z.int().optional(), mode: z.int().optional() }).nullable();
/** The content of a decision about held changes. */
const heldContext = z.object({
  directory: z.string(),
  conflicts: z.array(z.object({ path: z.string(), theirs: z.string(), command: version })),
});

const LARGEST = 1 << 20;

/**
 * The command's version of every conflicting path against the current one, as git shows it. Anything but a file, or too large a file, is
 * only named.
 */
export async function heldDiff(
  dataDirectory: string,
  { id, call, proposal }: Pick<Decision, 'id' | 'call' | 'proposal'>,
): Promise<Result<string, ErrorEnvelope>> {
  const read = heldContext.safeParse((proposal as { readonly context?: unknown } | null)?.context);
  if (!/:changes:\d+$/.test(call) || !read.success) return err(notHeld(id));
  const { directory, conflicts } = read.data;
  const contents = openHostContentStore(path.join(dataDirectory, 'blobs'));
  const place = fs.mkdtempSync(path.join(tmpdir(), 'signalbox-held-'));
  const notes: string[] = [];
  try {
    for (const side of [NOW, COMMAND]) fs.mkdirSync(path.join(place, side));
    for (const { path: name, theirs, command } of conflicts) {
      const there = fileAt(path.join(directory, name));
      const isFile = command === null || command.digest !== undefined;
      if (there === 'other' || !isFile || (command?.size ?? 0) > LARGEST) {
        notes.push(`${name}: ${theirs}; not shown, because it is not a file or is larger than 1 MB`);
        continue;
      }
      const content = command?.digest === undefined ? undefined : await contents.get(command.digest);
      if (content?.ok === false) {
        notes.push(`${name}: ${content.error.message}`);
        continue;
      }
      if (there !== undefined) put(path.join(place, NOW, name), there);
      const made = content && { content: content.value, mode: command?.mode ?? PLAIN_MODE };
      if (made !== undefined) put(path.join(place, COMMAND, name), made);
    }
    const { code, out, said } = await git(place, ['diff', '--no-index', '--no-color', '--no-ext-diff', NOW, COMMAND]);
    if (code > 1) return err(notShown(said));
    return ok([out.trimEnd(), ...notes].filter(text => text !== '').join('\n'));
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

const MOST_SHOWN = 200_000;

/** The diff of held changes against their directory, in git’s format, with modes and links. Other paths, and files that are too large, are only named. */
export async function diffOfHeld(layers: string, { layer, root, changes }: HeldChanges): Promise<string> {
  const upper = path.join(layers, layer, 'upper');
  const place = fs.mkdtempSync(path.join(tmpdir(), 'signalbox-held-'));
  const notes: string[] = [];
  try {
    for (const side of [NOW, COMMAND]) fs.mkdirSync(path.join(place, side));
    for (const { op, path: name } of changes) {
      const [there, made] = [fileAt(path.join(root, name)), op === 'put' ? fileAt(path.join(upper, name)) : undefined];
      if (op === 'make' || op === 'attributes' || there === 'other' || made === 'other') {
        notes.push(`${WORDS[op]}: ${name}`);
        continue;
      }
      if (there !== undefined) put(path.join(place, NOW, name), there);
      if (made !== undefined) put(path.join(place, COMMAND, name), made);
    }
    const { out } = await git(place, [
      'diff',
      '--no-index',
      '--no-color',
      '--no-ext-diff',
      '--no-prefix',
      NOW,
      COMMAND,
    ]);
    const text = out
      .trimEnd()
      .replaceAll(/(^(?:diff --git|---|\+\+\+|rename \w+).*)/gm, line => line.replaceAll(/\b(?:now|command)\//g, ''));
    const cut =
      text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… ${text.length - MOST_SHOWN} more characters` : text;
    return [cut, ...notes].filter(part => part !== '').join('\n');
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

const WORDS = {
  make: 'created directory',
  attributes: 'changed mode',
  put: 'changed, not shown',
  remove: 'removed',
} as const;

const [NOW, COMMAND] = ['now', 'command'] as const;

/** Versions that were held before modes were kept have none. */
const PLAIN_MODE = 0o644;

type Shown = { readonly content: Uint8Array; readonly mode: number } | { readonly target: string };

/** A file or link; undefined if nothing is there. */
function fileAt(full: string): Shown | 'other' | undefined {
  try {
    const stat = fs.lstatSync(full);
    if (stat.isSymbolicLink()) return { target: fs.readlinkSync(full) };
    if (!stat.isFile() || stat.size > LARGEST) return 'other';
    return { content: fs.readFileSync(full), mode: stat.mode };
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'other';
  }
}

function put(full: string, shown: Shown): void {
  fs.mkdirSync(path.dirname(full), { recursive: true });
  if ('target' in shown) {
    fs.symlinkSync(shown.target, full);
    return;
  }
  fs.writeFileSync(full, shown.content);
  // Git distinguishes files that can be run from others, and nothing else.
  fs.chmodSync(full, (shown.mode & 0o111) === 0 ? 0o600 : 0o700);
}

function notHeld(id: string): ErrorEnvelope {
  return failure('command/usage', {
    message: `Decision ${id} is not about files changed by both a command and someone else.`,
    suggestion: 'Omit --diff to see the question.',
  });
}

function notShown(why: string): ErrorEnvelope {
  return failure('workspace/failed', {
    message: `git could not show the difference: ${why}`,
    suggestion: 'Check git with "signalbox doctor".',
  });
}

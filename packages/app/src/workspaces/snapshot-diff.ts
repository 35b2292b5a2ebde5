import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Digest, type ErrorEnvelope, err, failure, ok, type Result, thrownMessage } from '@signalbox/model';
import type { BlobError } from '@signalbox/runs';
import { type DirectoryNode, loadTree, sameNode, type TreeNode } from '@signalbox/state';
import { git } from './git.ts';

/** The changes between two snapshots. */
export interface SnapshotDiff {
  readonly files: readonly ChangedFile[];
  /** As git renders it; empty if nothing changed or there is no git. */
  readonly patch: string;
}

export interface ChangedFile {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
}

/** Reads contents. */
export interface Contents {
  get(name: Digest): Promise<Result<Uint8Array, BlobError>>;
}

/** Compares two trees of the content store, without their git directories, and lets git show the files that differ. */
export async function snapshotDiff(
  contents: Contents,
  from: Digest,
  to: Digest,
): Promise<Result<SnapshotDiff, ErrorEnvelope>> {
  const compared = await changedLeaves(contents, from, to);
  if (!compared.ok) return compared;
  const changed = compared.value;
  const files = changed.map(fileOf);
  if (changed.length === 0) return ok({ files, patch: '' });
  try {
    const patch = await patchOf(contents, changed);
    return patch.ok ? ok({ files, patch: patch.value }) : patch;
  } catch (cause) {
    return err(notCompared(thrownMessage(cause)));
  }
}

/** The same without a patch; equal contents have the same `content`. */
export async function changedFiles(
  contents: Contents,
  from: Digest,
  to: Digest,
): Promise<Result<readonly (ChangedFile & { readonly content: string })[], ErrorEnvelope>> {
  const changed = await changedLeaves(contents, from, to);
  return changed.ok ? ok(changed.value.map(leaf => ({ ...fileOf(leaf), content: contentOf(leaf.after) }))) : changed;
}

/** The files and links that differ between two snapshots, by path. */
export async function changedLeaves(
  contents: Contents,
  from: Digest,
  to: Digest,
): Promise<Result<readonly Leaf[], ErrorEnvelope>> {
  const before = await treeOf(contents, from);
  if (!before.ok) return before;
  const after = await treeOf(contents, to);
  if (!after.ok) return after;
  return ok([...leaves(before.value, after.value, '')].sort((a, b) => (a.path < b.path ? -1 : 1)));
}

function contentOf(node: TreeNode | undefined): string {
  return node?.kind === 'file' ? (node.digest ?? 'unknown') : node?.kind === 'link' ? `→ ${node.target}` : '';
}

function fileOf({ path: name, before, after }: Leaf): ChangedFile {
  return { path: name, change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed' };
}

/** Paths with differences that no patch shows: the git directory, modes of directories, pipes. A note for readers; empty if there are none. */
export async function notShown(contents: Contents, from: Digest, to: Digest): Promise<string> {
  const [before, after] = [await treeOf(contents, from), await treeOf(contents, to)];
  const paths = before.ok && after.ok ? [...unshown(before.value, after.value, '')].sort() : [];
  return paths.length === 0 ? '' : `# Also changed, not shown: ${paths.join(', ').replace(/\s+/g, ' ')}\n`;
}

/** Puts both sides of the differences into a temporary directory for git to show. Empty if there is no git. */
async function patchOf(contents: Contents, changed: readonly Leaf[]): Promise<Result<string, ErrorEnvelope>> {
  const place = fs.mkdtempSync(path.join(tmpdir(), 'signalbox-diff-'));
  try {
    for (const side of ['a', 'b']) fs.mkdirSync(path.join(place, side));
    for (const { path: name, before, after } of changed) {
      const lost =
        (await putLeaf(contents, path.join(place, 'a', name), before)) ??
        (await putLeaf(contents, path.join(place, 'b', name), after));
      if (lost !== undefined) return err(lost);
    }
    const { code, out, said } = await git(place, ['diff', ...PLAIN, '--', 'a', 'b']);
    if (code === 127) return ok('');
    return code > 1 ? err(notCompared(said)) : ok(out.replace(HEADER, 'diff --git a/$2 b/$2'));
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

/** Ignores the user's configuration: the same two trees give the same text. */
const PLAIN = [
  ...['--no-index', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'],
  ...['--src-prefix=', '--dst-prefix='],
];

/** For a file on one side only, git names that side twice. */
const HEADER = /^diff --git ([ab])\/(.+) \1\/\2$/gm;

export interface Leaf {
  readonly path: string;
  readonly before: TreeNode | undefined;
  readonly after: TreeNode | undefined;
}

/** Differing files and links, recursively. Names that are not text are left out. */
function* leaves(before: TreeNode | undefined, after: TreeNode | undefined, at: string): Generator<Leaf> {
  if (sameNode(before, after)) return;
  const isInside = (node: TreeNode | undefined) => node?.kind === 'directory';
  if (!isInside(before) && !isInside(after)) {
    if (isShown(before) || isShown(after)) yield { path: at, before: shownOnly(before), after: shownOnly(after) };
    return;
  }
  if (isShown(before)) yield { path: at, before, after: undefined };
  if (isShown(after)) yield { path: at, before: undefined, after };
  const [old, now] = [entriesOf(before), entriesOf(after)];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    if (!name.isWellFormed() || (at === '' && name === '.git')) continue;
    yield* leaves(old.get(name), now.get(name), at === '' ? name : `${at}/${name}`);
  }
}

/** Differences that are neither files nor links, and the git directory as a whole. */
function* unshown(before: TreeNode | undefined, after: TreeNode | undefined, at: string): Generator<string> {
  if (sameNode(before, after)) return;
  const isOther = (node: TreeNode | undefined) => node !== undefined && node.kind !== 'directory' && !isShown(node);
  const hasOtherMode = before?.kind === 'directory' && after?.kind === 'directory' && before.mode !== after.mode;
  if (at === '.git' || isOther(before) || isOther(after) || hasOtherMode) yield at === '' ? '.' : at.toWellFormed();
  if (at === '.git') return;
  const [old, now] = [entriesOf(before), entriesOf(after)];
  for (const name of new Set([...old.keys(), ...now.keys()]))
    yield* unshown(old.get(name), now.get(name), at === '' ? name : `${at}/${name}`);
}

function entriesOf(node: TreeNode | undefined): DirectoryNode['entries'] {
  return node?.kind === 'directory' ? node.entries : new Map();
}

function isShown(node: TreeNode | undefined): boolean {
  return node?.kind === 'file' || node?.kind === 'link';
}

function shownOnly(node: TreeNode | undefined): TreeNode | undefined {
  return isShown(node) ? node : undefined;
}

async function putLeaf(contents: Contents, file: string, node: TreeNode | undefined): Promise<BlobError | undefined> {
  if (node?.kind !== 'file' && node?.kind !== 'link') return undefined;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (node.kind === 'link') {
    fs.symlinkSync(node.target.toWellFormed(), file);
    return undefined;
  }
  if (node.digest === null) return undefined;
  const content = await contents.get(node.digest);
  if (!content.ok) return content.error;
  fs.writeFileSync(file, content.value);
  fs.chmodSync(file, 0o600 | (node.mode & 0o111));
  return undefined;
}

async function treeOf(contents: Contents, ref: Digest): Promise<Result<DirectoryNode, ErrorEnvelope>> {
  return loadTree(
    {
      async get(name) {
        const content = await contents.get(name);
        if (content.ok) return content;
        return err(
          failure('state/content-missing', { message: content.error.message, suggestion: content.error.suggestion }),
        );
      },
    },
    ref,
  );
}

function notCompared(why: string): ErrorEnvelope<'workspace/failed'> {
  return failure('workspace/failed', {
    message: `git could not show the difference: ${why}`,
    suggestion: 'Check git with "signalbox doctor".',
  });
}

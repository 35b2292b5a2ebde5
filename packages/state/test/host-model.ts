import * as fs from 'node:fs';
import fc from 'fast-check';

/**
 * A directory as a plain map, and the same operations on it and on a real directory. Names are bytes written as latin1,
 * so that every name a directory can hold is also a string here.
 */
type ModelNode =
  | { readonly kind: 'file'; readonly mode: number; readonly content: string }
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string };
export type Model = ReadonlyMap<string, ModelNode>;

export type Operation =
  | { readonly op: 'write'; readonly path: string; readonly content: string }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'rename'; readonly path: string; readonly to: string }
  | { readonly op: 'mkdir'; readonly path: string }
  | { readonly op: 'symlink'; readonly path: string; readonly target: string }
  | { readonly op: 'chmod'; readonly path: string; readonly mode: number }
  | { readonly op: 'read'; readonly path: string };

const NAMES = ['a', 'b', 'c', 'deep', '.env', 'new\nline', 'not\xffutf8', '\xc3\xa9', '-rf', ' ', '=b64', '__proto__'];
/** Root can work in any directory. What others cannot look into is no matter of this model: it has tests of its own. */
const MODES =
  process.geteuid?.() === 0
    ? [0o644, 0o600, 0o755, 0o400, 0o000, 0o500, 0o2755, 0o1777]
    : [0o744, 0o700, 0o755, 0o711, 0o777, 0o750, 0o2755, 0o1777];
const name = fc.constantFrom(...NAMES);
const anyPath = fc.array(name, { minLength: 1, maxLength: 3 }).map(parts => parts.join('/'));
const content = fc.oneof(
  fc.constantFrom('', 'same', 'size', '\0\xff\x80binary', '\r\n'),
  fc.string({ maxLength: 40, unit: fc.integer({ min: 0, max: 255 }).map(code => String.fromCharCode(code)) }),
);

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('write' as const), path: anyPath, content }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('remove' as const), path: anyPath }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('rename' as const), path: anyPath, to: anyPath }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('mkdir' as const), path: anyPath }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('symlink' as const),
      path: anyPath,
      target: fc.oneof(anyPath, fc.constant('/etc')),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('chmod' as const),
      path: anyPath,
      mode: fc.constantFrom(...MODES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('read' as const), path: anyPath }) },
);

/** The model after an operation. One that cannot be done changes nothing. */
export function modelAfter(model: Model, step: Operation): Model {
  const next = new Map(model);
  const { path } = step;
  const there = model.get(path);
  if (step.op === 'read' || !hasParent(model, path)) return model;
  switch (step.op) {
    case 'write':
      if (there !== undefined && there.kind !== 'file') return model;
      next.set(path, { kind: 'file', mode: there?.mode ?? 0o644, content: step.content });
      return next;
    case 'remove':
      for (const other of model.keys()) if (other === path || other.startsWith(`${path}/`)) next.delete(other);
      return next;
    case 'rename': {
      if (there === undefined || model.has(step.to) || !hasParent(model, step.to)) return model;
      if (step.to.startsWith(`${path}/`)) return model;
      for (const [other, node] of model) {
        if (other !== path && !other.startsWith(`${path}/`)) continue;
        next.delete(other);
        next.set(step.to + other.slice(path.length), node);
      }
      return next;
    }
    case 'mkdir':
      return there === undefined ? next.set(path, { kind: 'directory', mode: 0o755 }) : model;
    case 'symlink':
      return there === undefined ? next.set(path, { kind: 'link', target: step.target }) : model;
    case 'chmod':
      return there === undefined || there.kind === 'link' ? model : next.set(path, { ...there, mode: step.mode });
  }
}

/** The same on a real directory. */
export function perform(root: string, step: Operation): void {
  const at = osPath(root, step.path);
  if (!hasRealParent(root, step.path)) return;
  const there = fs.lstatSync(at, { throwIfNoEntry: false });
  switch (step.op) {
    case 'read':
      if (there?.isFile()) fs.readFileSync(at);
      return;
    case 'write':
      if (there !== undefined && !there.isFile()) return;
      fs.writeFileSync(at, Buffer.from(step.content, 'latin1'));
      return;
    case 'remove':
      fs.rmSync(at, { recursive: true, force: true });
      return;
    case 'rename':
      if (there === undefined || !hasRealParent(root, step.to) || step.to.startsWith(`${step.path}/`)) return;
      if (fs.lstatSync(osPath(root, step.to), { throwIfNoEntry: false })) return;
      fs.renameSync(at, osPath(root, step.to));
      return;
    case 'mkdir':
      if (there !== undefined) return;
      fs.mkdirSync(at);
      // A directory with the group bit hands it down; the model does not.
      fs.chmodSync(at, 0o755);
      return;
    case 'symlink':
      if (there === undefined) fs.symlinkSync(Buffer.from(step.target, 'latin1'), at);
      return;
    case 'chmod':
      if (there !== undefined && !there.isSymbolicLink()) fs.chmodSync(at, step.mode);
      return;
  }
}

/** The model in the form in which real trees are compared. */
export function treeOfModel(model: Model): Record<string, string> {
  const shown: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [path, node] of model) {
    const mode = node.kind === 'link' ? '' : node.mode.toString(8);
    shown[`./${path}`] =
      node.kind === 'file'
        ? `file ${mode} ${node.content}`
        : node.kind === 'link'
          ? `link ${node.target}`
          : `directory ${mode}`;
  }
  return { ...shown };
}

function hasParent(model: Model, path: string): boolean {
  const cut = path.lastIndexOf('/');
  if (cut < 0) return true;
  const parent = path.slice(0, cut);
  return model.get(parent)?.kind === 'directory' && hasParent(model, parent);
}

function hasRealParent(root: string, path: string): boolean {
  const cut = path.lastIndexOf('/');
  if (cut < 0) return true;
  const parent = path.slice(0, cut);
  return (
    hasRealParent(root, parent) && fs.lstatSync(osPath(root, parent), { throwIfNoEntry: false })?.isDirectory() === true
  );
}

function osPath(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);
}

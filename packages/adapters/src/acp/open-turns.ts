import type { Assignment } from '@signalbox/runs';

/** A turn whose changes are on a layer, apart from its directory. */
export interface TurnOnLayer extends Pick<Assignment, 'run' | 'task' | 'node' | 'apply'> {
  /** The agent, for people. */
  readonly title: string;
  readonly root: string;
  /** Paths below the root that may be changed on the layer so far. */
  written(): readonly string[];
  /** Whether the layer has another version of a path than the root. */
  isChanged(path: string): boolean;
}

/** A path that two turns changed, neither of which is applied yet. */
export interface Overlap {
  /** Relative to the root of the turn that looks. */
  readonly path: string;
  readonly node: string;
  readonly title: string;
}

export interface OpenTurn {
  /** The overlaps since the last look. */
  look(): readonly Overlap[];
  /** All overlaps that were found. */
  found(): readonly Overlap[];
  /** Its changes are applied or dropped. */
  over(): void;
}

/**
 * The turns of this process whose changes are not in their directories yet.
 *
 * 1. A turn looks when one of its calls has ended: the second of two that change a path finds the other one.
 * 2. Agents whose changes a `Keep` compares work on the same task on purpose: they do not overlap with each other.
 * 3. Looking costs nothing while a directory has one open turn.
 */
export function createOpenTurns() {
  const open = new Map<string, TurnOnLayer>();

  return {
    begin(turn: TurnOnLayer): OpenTurn {
      const key = `${turn.run} ${turn.task}`;
      const found = new Map<string, Overlap>();
      open.set(key, turn);
      return {
        look() {
          const others = [...open.values()].filter(one => one !== turn && areApart(one, turn) && areNested(one, turn));
          if (others.length === 0) return [];
          const own = turn.written().map(path => `${turn.root}/${path}`);
          const before = found.size;
          for (const other of others) {
            const theirs = other.written().map(path => `${other.root}/${path}`);
            for (const [mine, its] of pairs(own, theirs)) {
              const path = mine.slice(turn.root.length + 1);
              const overlap = { path, node: other.node, title: other.title };
              const name = `${other.run} ${other.task} ${path}`;
              if (!found.has(name) && turn.isChanged(path) && other.isChanged(its.slice(other.root.length + 1)))
                found.set(name, overlap);
            }
          }
          return [...found.values()].slice(before);
        },
        found: () => [...found.values()],
        over() {
          if (open.get(key) === turn) open.delete(key);
        },
      };
    },
  };
}

export type OpenTurns = ReturnType<typeof createOpenTurns>;

function areApart(one: TurnOnLayer, other: TurnOnLayer): boolean {
  return one.task !== other.task && !(one.run === other.run && one.apply === 'hold' && other.apply === 'hold');
}

function areNested(one: TurnOnLayer, other: TurnOnLayer): boolean {
  return isWithin(one.root, other.root) || isWithin(other.root, one.root);
}

/** Equal paths, and paths one of which contains the other: a directory that is new or removed stands for all below it. */
function* pairs(own: readonly string[], theirs: readonly string[]): Generator<readonly [string, string]> {
  const known = new Set(theirs);
  const above = new Map<string, string>();
  for (const path of theirs) for (const parent of parentsOf(path)) above.set(parent, path);
  for (const path of own) {
    const same = known.has(path) ? path : (parentsOf(path).find(parent => known.has(parent)) ?? above.get(path));
    if (same !== undefined) yield [path, same];
  }
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1, -1).map((_, index) => parts.slice(0, index + 2).join('/'));
}

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(`${ancestor}/`);
}

const SHOWN = 5;

/** Overlaps in a sentence: one for each other node. */
export function overlapWords(overlaps: readonly Overlap[]): readonly string[] {
  const nodes = [...new Set(overlaps.map(({ node }) => node))];
  return nodes.map(node => {
    const own = overlaps.filter(one => one.node === node);
    const paths = own.slice(0, SHOWN).map(({ path }) => path.toWellFormed());
    const more = own.length > SHOWN ? ` and ${own.length - SHOWN} more` : '';
    const them = own.length === 1 ? 'it' : 'them';
    return `${paths.join(', ')}${more}: node ${node} (${own[0]?.title}) has changed ${them} too, and its changes are not applied yet. Whichever is applied second waits for a person.`;
  });
}

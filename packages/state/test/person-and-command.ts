import * as fs from 'node:fs';
import * as path from 'node:path';
import type { HostFiles } from '../src/index.ts';

/** Whole numbers below a limit, the same ones for the same seed. */
export function createDice(seed: number): (limit: number) => number {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  return limit => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const PATHS = ['a', 'b', 'dir/c', 'dir/d', 'dir/deep/e', 'new', 'dir/new', 'fresh/f', 'node_modules/m'];
/** Paths that no command writes. */
const OWN_PATHS = ['mine', 'dir/mine', 'notes/mine', '.env'];

export function plantTree(root: string): void {
  for (const file of ['a', 'b', 'dir/c', 'dir/d', 'dir/deep/e']) put(path.join(root, file), `original ${file}`);
}

/** A shell script that does one thing after the other, each when it is told to, and says when it has done it. */
export function commandScript(
  dice: Dice,
  place: { readonly go: string; readonly done: string; readonly pid: string; readonly root: string },
  ending: { readonly steps: number; readonly exitCode: number | null },
): { readonly text: string; readonly paths: readonly string[] } {
  const { works, paths } = commandWorks(dice, ending.steps);
  const lines = [
    `echo $$ > ${place.pid}.tmp; mv ${place.pid}.tmp ${place.pid}`,
    `exec 3<${place.go}`,
    `cd ${place.root}`,
    ...works.flatMap((work, step) => ['read go <&3', `{ ${work}; } 2>/dev/null`, `: > ${place.done}${step}`]),
    ...['read go <&3', ending.exitCode === null ? 'read go <&3' : `exit ${ending.exitCode}`],
  ];
  return { text: `${lines.join('\n')}\n`, paths };
}

/** The same for a command on a layer: it is told by how much is in a file, and says so where only we see it. */
export function layerScript(
  dice: Dice,
  ending: { readonly steps: number; readonly exitCode: number | null },
): { readonly text: string; readonly paths: readonly string[] } {
  const { works, paths } = commandWorks(dice, ending.steps);
  const wait = (count: number) => `until [ "$(wc -c < .go)" -ge ${count} ]; do sleep 0.01; done`;
  const lines = [
    ...works.flatMap((work, step) => [wait(step + 1), `{ ${work}; } 2>/dev/null`, `: > .done-${step}`]),
    ...[wait(ending.steps + 1), 'rm -f .done-*', ending.exitCode === null ? 'sleep 3600' : `exit ${ending.exitCode}`],
  ];
  return { text: `${lines.join('\n')}\n`, paths };
}

type Dice = (limit: number) => number;

function commandWorks(dice: Dice, steps: number) {
  const paths: string[] = [];
  const works = Array.from({ length: steps }, (_, step) => {
    const at = PATHS[dice(PATHS.length)] as string;
    const other = PATHS[dice(PATHS.length)] as string;
    paths.push(at);
    const write = `mkdir -p "$(dirname ${at})"; printf 'command ${step}' > ${at}`;
    return [
      write,
      write,
      `mkdir -p "$(dirname ${at})"; printf 'command ${step}' >> ${at}`,
      `mkdir -p "$(dirname ${at})"; printf 'command ${step}' > ${at}.tmp; mv ${at}.tmp ${at}`,
      `rm -rf ${at}`,
      `rm -rf dir`,
      `mkdir -p "$(dirname ${other})"; mv ${at} ${other}`,
      `chmod 600 ${at}`,
      `mv dir moved`,
    ][dice(9)] as string;
  });
  return { works, paths };
}

/** Lets a person act after some of the changes that are made on disk. */
export function disturbed(files: HostFiles, act: () => void, isDue: () => boolean): HostFiles {
  const wrapped = Object.entries(files).map(([name, work]) => {
    if (name === 'now') return [name, work];
    const call = work as (...args: readonly unknown[]) => unknown;
    return [
      name,
      (...args: readonly unknown[]) => {
        const result = call(...args);
        if (isDue()) act();
        return result;
      },
    ];
  });
  // Every member of the port is passed on.
  return Object.fromEntries(wrapped) as unknown as HostFiles;
}

/** Somebody who works in the same directory. What they wrote and did not give up themselves must never be lost. */
export function createPerson(root: string, dice: (limit: number) => number, shared: readonly string[]) {
  const written = new Set<string>();
  let count = 0;
  const forget = (at: string) => {
    for (const token of tokensUnder(at)) written.delete(token);
  };
  let held: number | undefined;
  const isHeld = (at: string) => held !== undefined && statOf(at)?.ino === fs.fstatSync(held).ino;
  const choose = () => {
    const theirs = dice(2) === 0 && shared.length > 0;
    const at = path.join(root, (theirs ? shared[dice(shared.length)] : OWN_PATHS[dice(OWN_PATHS.length)]) as string);
    // Nobody replaces a file under a program of their own.
    return isHeld(at) ? path.join(root, 'mine') : at;
  };
  const save = (at: string, how: (content: string) => void) => {
    const token = `<person ${++count}>`;
    if (!canHold(at)) return;
    forget(at);
    how(`something ${token} else`);
    written.add(token);
  };
  return {
    written,
    /** Opens a file that the command may change, as a server opens its log, and writes to it from then on. */
    holdOpen() {
      const files = [...shared, 'b', 'dir/c'].map(name => path.join(root, name)).filter(isFile);
      held = fs.openSync(files[dice(files.length)] as string, 'a');
    },
    writeToHeld() {
      if (held === undefined) return;
      const token = `<person ${++count}>`;
      fs.writeSync(held, ` ${token}`);
      written.add(token);
    },
    letGo() {
      if (held !== undefined) fs.closeSync(held);
      held = undefined;
    },
    /** A command that works in place may have removed or replaced the file by itself. */
    letGoIfRemoved() {
      if (held !== undefined && fs.fstatSync(held).nlink === 0) this.letGo();
    },
    /** What is gone by now was overwritten by the command itself, before anybody could keep it. */
    lookAround() {
      const there = tokensUnder(root);
      for (const token of written) if (!there.has(token)) written.delete(token);
    },
    act() {
      const at = choose();
      switch (dice(6)) {
        case 0:
        case 1:
          return save(at, content => put(at, content));
        case 2:
          return save(at, content => {
            put(`${at}~`, content);
            fs.renameSync(`${at}~`, at);
          });
        case 3:
          return save(at, content => {
            put(at, content);
            fs.chmodSync(at, 0o640);
          });
        case 4:
          forget(at);
          return fs.rmSync(at, { recursive: true, force: true });
        case 5: {
          const to = choose();
          if (at === to || !isFile(at) || !canHold(to)) return;
          forget(to);
          fs.mkdirSync(path.dirname(to), { recursive: true });
          return fs.renameSync(at, to);
        }
      }
    },
  };
}

export function tokensIn(text: string): readonly string[] {
  return text.match(/<person \d+>/g) ?? [];
}

export function tokensUnder(at: string, found = new Set<string>()): Set<string> {
  const stat = fs.lstatSync(at, { throwIfNoEntry: false });
  if (stat?.isFile()) for (const token of tokensIn(fs.readFileSync(at, 'utf8'))) found.add(token);
  if (stat?.isDirectory()) for (const name of fs.readdirSync(at)) tokensUnder(path.join(at, name), found);
  return found;
}

function put(at: string, content: string): void {
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, content);
}

function isFile(at: string): boolean {
  return fs.lstatSync(at, { throwIfNoEntry: false })?.isFile() === true;
}

/** Whether a file can be written there: nothing on the way is a file, and it is no directory itself. */
function canHold(at: string): boolean {
  if (fs.lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) return false;
  for (let around = path.dirname(at); ; around = path.dirname(around)) {
    const stat = statOf(around);
    if (stat !== undefined) return stat.isDirectory();
  }
}

function statOf(at: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(at, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

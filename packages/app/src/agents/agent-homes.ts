import * as fs from 'node:fs';
import path from 'node:path';
import type { AgentHome } from '@signalbox/adapters/acp';
import { parsedJson } from '@signalbox/model';
import type { Assignment } from '@signalbox/runs';
import { findProcess, nodeHostFiles, type ProcessIdentity, removeTree } from '@signalbox/state';
import * as z from 'zod';

/**
 * Directories of agents' processes: one for each task, for our user alone.
 *
 * 1. A home stays while its task waits, if the agent can be given its session again: nothing that it changed was dropped. Otherwise it is
 *    removed with the attempt.
 * 2. Whether nothing was dropped is noted beside the home, by the attempt that ends or, after a death of our process, by the next
 *    start. A note counts for one attempt. It names the session that the agent worked in: another home may have one with the same id.
 * 3. The home of a task that is over is removed when the next agent or the next process starts, at the latest.
 */
export interface AgentHomes {
  open(of: Pick<Assignment, 'run' | 'task'>, mayContinue: boolean): AgentHome;
  /** Notes the process group that uses a home and does not end with us. */
  noteGroup(home: string, leader: ProcessIdentity): void;
  /** Removes homes that nobody needs any more. */
  sweep(isTaskOver: IsTaskOver): Promise<void>;
  /**
   * Deals with what a process before left. `dropped` says of tasks that were cut off with it whether nothing was changed. Called once,
   * before the first agent is started.
   */
  recover(isTaskOver: IsTaskOver, dropped: ReadonlyMap<string, boolean>): Promise<void>;
}

type IsTaskOver = (run: string, task: string) => Promise<boolean>;

const FOLDER = 'agent-homes';
const NOTE = '.note.json';
const GROUP = '.group.json';
const note = z.strictObject({ run: z.string(), isUntouched: z.boolean(), session: z.string().optional() });
const group = z.strictObject({ pid: z.int().positive(), startedAt: z.string() });

/** Ends process groups that a process before could not end. Only for the owner of the directory. */
export function openAgentHomes(dataDirectory: string): AgentHomes {
  const folder = path.join(dataDirectory, FOLDER);
  const inUse = new Set<string>();
  const names = () => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);
  const at = (name: string) => path.join(folder, name);
  for (const name of names()) {
    if (!name.endsWith(GROUP)) continue;
    endGroup(at(name));
    remove(at(name));
  }

  function removeHome(task: string): void {
    for (const one of [task, task + GROUP, task + NOTE]) remove(at(one));
  }
  const noteOf = (task: string) => note.safeParse(parsedJson(read(at(task + NOTE)))).data;
  const write = (task: string, of: z.infer<typeof note>) =>
    fs.writeFileSync(at(task + NOTE), JSON.stringify(of), { mode: 0o600 });

  async function sweep(isTaskOver: IsTaskOver): Promise<void> {
    for (const task of new Set(names().map(name => name.split('.')[0] ?? name))) {
      if (inUse.has(task)) continue;
      const known = noteOf(task);
      const isNeeded = known?.isUntouched === true && !(await isTaskOver(known.run, task));
      if (!isNeeded && !inUse.has(task)) removeHome(task);
    }
  }

  return {
    open({ run, task }, mayContinue) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const home = path.join(fs.realpathSync(folder), task);
      const known = noteOf(task);
      const isUntouched = known?.isUntouched === true && fs.existsSync(home);
      let session: string | undefined;
      if (isUntouched && mayContinue) session = known.session;
      else removeHome(task);
      const before = session;
      const noteAs = (isStill: boolean) =>
        write(task, { run, isUntouched: isStill, ...(session !== undefined && { session }) });
      inUse.add(task);
      noteAs(false);
      fs.mkdirSync(home, { recursive: true, mode: 0o700 });
      return {
        path: home,
        isUntouched,
        session: before,
        took(given) {
          session = given;
          noteAs(false);
        },
        keep() {
          remove(home + GROUP);
          noteAs(true);
          inUse.delete(task);
        },
        remove() {
          removeHome(task);
          inUse.delete(task);
        },
      };
    },
    noteGroup: (home, leader) => fs.writeFileSync(home + GROUP, JSON.stringify(leader), { mode: 0o600 }),
    sweep,
    async recover(isTaskOver, dropped) {
      for (const [task, isUntouched] of dropped) {
        const known = noteOf(task);
        if (known !== undefined) write(task, { ...known, isUntouched });
      }
      await sweep(isTaskOver);
    },
  };
}

/** Another process may have the number by now: it is known by when it was started. */
function endGroup(file: string): void {
  try {
    const { pid, startedAt } = group.parse(JSON.parse(fs.readFileSync(file, 'utf8')));
    if (findProcess(pid)?.startedAt === startedAt) process.kill(-pid, 'SIGKILL');
  } catch {
    // It was never written whole, or the group has ended.
  }
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** What cannot be removed is tried again at the next start. */
function remove(place: string): void {
  try {
    removeTree(nodeHostFiles, place);
  } catch {}
}

import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { findProcess, type ProcessIdentity } from '@signalbox/state';
import * as z from 'zod';

/** Directories of agents' processes: one for each attempt, for our user alone, removed with the attempt. */
export interface AgentHomes {
  open(): { readonly path: string; remove(): void };
  /** Notes the process group that uses a home and does not end with us. */
  noteGroup(home: string, leader: ProcessIdentity): void;
}

const FOLDER = 'agent-homes';
const group = z.strictObject({ pid: z.int().positive(), startedAt: z.string() });

/** Removes what a process before left, and ends process groups that it could not end. Only for the owner of the directory. */
export function openAgentHomes(dataDirectory: string): AgentHomes {
  const folder = path.join(dataDirectory, FOLDER);
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    if (name.endsWith(GROUP)) endGroup(path.join(folder, name));
    remove(path.join(folder, name));
  }
  return {
    open() {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const home = path.join(fs.realpathSync(folder), randomUUID());
      fs.mkdirSync(home, { mode: 0o700 });
      return {
        path: home,
        remove() {
          remove(home);
          remove(home + GROUP);
        },
      };
    },
    noteGroup: (home, leader) => fs.writeFileSync(home + GROUP, JSON.stringify(leader), { mode: 0o600 }),
  };
}

const GROUP = '.group.json';

/** Another process may have the number by now: it is known by when it was started. */
function endGroup(file: string): void {
  try {
    const { pid, startedAt } = group.parse(JSON.parse(fs.readFileSync(file, 'utf8')));
    if (findProcess(pid)?.startedAt === startedAt) process.kill(-pid, 'SIGKILL');
  } catch {
    // It was never written whole, or the group has ended.
  }
}

/** What cannot be removed is tried again at the next start. */
function remove(place: string): void {
  try {
    fs.rmSync(place, { recursive: true, force: true });
  } catch {}
}

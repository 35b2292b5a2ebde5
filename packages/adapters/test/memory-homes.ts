import { createHmac } from 'node:crypto';
import * as fs from 'node:fs';
import type { AcpPorts } from '../src/acp/index.ts';

/** Keyed hashes, as an app makes them. */
export const mac: AcpPorts['mac'] = text => createHmac('sha256', 'key of the tests').update(text).digest('hex');

/** Homes of agents below a folder, one for each task; an attempt may find the one that was kept. */
export function createHomes(folder: string) {
  const opened: string[] = [];
  const untouched = new Set<string>();
  const sessions = new Map<string, string>();
  const configHome: AcpPorts['configHome'] = async ({ task }, mayContinue) => {
    const path = `${folder}/${task}`;
    const isUntouched = untouched.delete(path);
    if (!isUntouched || !mayContinue) {
      fs.rmSync(path, { recursive: true, force: true });
      sessions.delete(path);
    }
    fs.mkdirSync(path, { recursive: true });
    opened.push(path);
    return {
      path,
      isUntouched,
      session: sessions.get(path),
      took: session => void sessions.set(path, session),
      keep: () => void untouched.add(path),
      remove: () => fs.rmSync(path, { recursive: true, force: true }),
    };
  };
  return { opened, configHome, kept: () => [...untouched] };
}

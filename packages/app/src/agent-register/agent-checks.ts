import { readFileSync } from 'node:fs';
import path from 'node:path';
import { hostDisk, placeFile } from '@signalbox/journal';
import { type AgentCheck, agentCheck } from '@signalbox/model';
import * as z from 'zod';
import { makePrivateDirectory } from '../private-directory.ts';

const kept = z.record(z.string(), z.object({ ...agentCheck.shape, version: z.string() }));
type Kept = z.infer<typeof kept>;

/** The last check of each agent, in `agents/checks.json` of the data directory. A check counts for the version that was checked. */
export interface AgentChecks {
  last(agent: string, version: string): AgentCheck | undefined;
  /** Kept in memory alone if the disk is not writable. */
  keep(agent: string, version: string, check: AgentCheck): void;
  forget(agent: string): void;
}

export function openAgentChecks(dataDirectory: string): AgentChecks {
  const file = path.join(dataDirectory, 'agents', 'checks.json');
  let checks = read(file);

  function write(next: Kept): void {
    checks = next;
    try {
      makePrivateDirectory(path.dirname(file));
      const text = Buffer.from(`${JSON.stringify(next)}\n`);
      placeFile(hostDisk, { path: file, temporary: `${file}.${process.pid}.tmp` }, text);
    } catch {
      // It can be checked again.
    }
  }

  return {
    last(agent, version) {
      const found = checks[agent];
      if (found?.version !== version) return undefined;
      const { version: _, ...check } = found;
      return check;
    },
    keep: (agent, version, check) => write({ ...checks, [agent]: { ...check, version } }),
    forget(agent) {
      const { [agent]: gone, ...rest } = checks;
      if (gone !== undefined) write(rest);
    },
  };
}

function read(file: string): Kept {
  try {
    return kept.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Nothing was kept, or it is unusable.
    return {};
  }
}

import * as fs from 'node:fs';
import path from 'node:path';
import { type AgentId, type Json, parsedJson } from '@signalbox/model';

const FOLDER = 'fleet-agents';

/** Transcripts of the fleet's own agents, kept for their next life: a file for each agent, a line for each entry. */
export interface AgentTranscripts {
  /** The entries so far; a line that was cut off is left out. */
  read(agent: AgentId): readonly Json[];
  /** Durable when it returns. */
  add(agent: AgentId, entries: readonly Json[]): void;
  remove(agent: AgentId): void;
}

export function openAgentTranscripts(dataDirectory: string): AgentTranscripts {
  const folder = path.join(dataDirectory, FOLDER);
  const fileOf = (agent: AgentId) => path.join(folder, `${agent}.ndjson`);
  return {
    read(agent) {
      const lines = fs.existsSync(fileOf(agent)) ? fs.readFileSync(fileOf(agent), 'utf8').split('\n') : [];
      return lines.flatMap(line => {
        const entry = line === '' ? undefined : parsedJson(line);
        return entry === undefined ? [] : [entry as Json];
      });
    },
    add(agent, entries) {
      if (entries.length === 0) return;
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = fs.openSync(fileOf(agent), 'a', 0o600);
      try {
        // A line that a crash cut off must not run into the next one.
        fs.writeSync(file, `\n${entries.map(entry => JSON.stringify(entry)).join('\n')}\n`);
        fs.fsyncSync(file);
      } finally {
        fs.closeSync(file);
      }
    },
    remove: agent => fs.rmSync(fileOf(agent), { force: true }),
  };
}

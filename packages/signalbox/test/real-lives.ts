import * as fs from 'node:fs';
import path from 'node:path';
import { openReader } from '@signalbox/app/host';
import { echoAgentProgram, startChild, startModelServer } from '@signalbox/testkit';
import { onTestFailed, onTestFinished } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { ECHO, livingIn, realFolder } from './real-host.ts';
import { NOTES, taskModel } from './real-task.ts';

const script = childScript(import.meta.dirname, 'real-host-child.ts');

/** A folder in which processes do the task with an agent, one after the other. */
export async function openLives(agent: string) {
  const folder = realFolder();
  const notes = path.join(folder, 'work', NOTES.name);
  fs.writeFileSync(notes, NOTES.before);
  // The echo agent has no model: instead of its address, its program is passed on.
  const model =
    agent === ECHO
      ? { url: echoAgentProgram, requests: [], close: async () => {} }
      : await startModelServer(taskModel(agent, path.dirname(notes)), { maxCalls: 10_000 });
  const lives = new Set<ReturnType<typeof startChild>>();
  const said: string[] = [];
  onTestFailed(() => {
    const asked = model.requests.map(({ path: at, refusal, asked: request }) =>
      JSON.stringify([at, refusal, request?.turn, request?.since]).slice(0, 2_000),
    );
    console.error(`${agent}:\n${[...said, 'Its model was asked:', ...asked].join('\n')}`);
  });
  onTestFinished(async () => {
    for (const one of lives) one.kill();
    await Promise.all([...lives].map(one => one.ended));
    await model.close();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });

  /** One process. It is killed as soon as a line that it says is `last`, with the agent if that is wanted. */
  async function life(how: 'answers' | 'waits', last: (line: string) => boolean, withAgent = false): Promise<boolean> {
    const child = startChild(script, folder, agent, model.url, how);
    lives.add(child);
    let rest = '';
    child.process.stdout?.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        said.push(line);
        if (!last(line)) continue;
        said.push('(killed)');
        if (withAgent) for (const pid of livingIn(folder)) kill(pid);
        child.kill();
      }
    });
    const { code, signal } = await child.ended;
    lives.delete(child);
    if (signal !== 'SIGKILL' && code !== 0) throw new Error(`a process ended with ${code}`);
    return signal === 'SIGKILL';
  }

  return {
    life,
    /** What is left when the task is done. */
    async outcome() {
      const reader = openReader({ path: path.join(folder, 'data', 'db.sqlite') });
      if (!reader.ok) throw new Error(reader.error.message);
      try {
        const [run] = (await reader.value.runs()).items;
        const decisions = (await reader.value.decisions({})).filter(({ decision }) => !isRead(decision.proposal));
        const events = run === undefined ? [] : await reader.value.events(run.id, 0, 5_000);
        const told = events.map(({ event }) => event);
        const askedFor = (id: string) =>
          told.filter(one => one.type === 'decision.asked' && one.decision === id).length;
        return {
          status: run?.status,
          notes: fs.readFileSync(notes, 'utf8'),
          decisions: decisions.map(({ decision: { id, status } }) => `${status}, asked ${askedFor(id)} times`),
          layers: writtenLayers(path.join(folder, 'data', 'layers')),
          living: livingIn(folder),
        };
      } finally {
        reader.value.close();
      }
    },
  };
}

const once = 'answered, asked 1 times';
/** The outcome of the task, done once. */
export const DONE = { status: 'completed', notes: NOTES.after, decisions: [once, once, once], layers: [], living: [] };

/** Layers with something on them. One that was mounted ahead and never used is removed by the next process. */
function writtenLayers(layers: string): readonly string[] {
  return fs.readdirSync(layers).filter(name => {
    const upper = path.join(layers, name, 'upper');
    return fs.existsSync(upper) && fs.readdirSync(upper).length > 0;
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** goose asks about everything. */
function isRead(proposal: unknown): boolean {
  return JSON.stringify(proposal).includes('cat ');
}

import { cpuMsOf, startNode } from './node-process.ts';

export interface FollowedRun {
  /** When the first task had started, and when the last event was told, by `performance.now()`. */
  readonly firstStepAt: number;
  readonly lastEventAt: number;
  readonly exitedAt: number;
  /** When each task had ended. */
  readonly endedAt: readonly number[];
  /** From the first step to the last event; undefined where the system does not say. */
  readonly cpuMs: number | undefined;
  readonly id: string;
}

/** Follows `signalbox run` or `resume` by the lines it prints; kills its group once `until` tasks have ended. */
export async function followed(args: readonly string[], until?: number): Promise<FollowedRun> {
  let [firstStepAt, lastEventAt, id, lastLine] = [0, 0, '', ''];
  let [cpuBefore, cpuAfter]: (number | undefined)[] = [];
  const endedAt: number[] = [];
  const started = startNode([...args, '--json'], {
    line(line, at) {
      if (!line.startsWith('{"event"')) {
        lastLine = line;
        cpuAfter ??= cpuMsOf(started.pid);
        return;
      }
      lastEventAt = at;
      if (firstStepAt === 0 && line.includes('"type":"task.started"')) {
        firstStepAt = at;
        id = /"runId":"([^"]+)"/.exec(line)?.[1] ?? '';
        cpuBefore = cpuMsOf(started.pid);
      }
      if (line.includes('"type":"task.ended"')) endedAt.push(at);
      if (endedAt.length === until) started.kill();
    },
  });
  const { code, exitedAt } = await started.exit;
  const isWhole = until === undefined ? code === 0 : endedAt.length >= until;
  if (!isWhole) throw new Error(`${args.join(' ')} ended with ${code}: ${lastLine}`);
  const cpuMs = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore;
  return { firstStepAt, lastEventAt, exitedAt, endedAt, cpuMs, id };
}

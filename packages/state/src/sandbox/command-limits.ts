import * as z from 'zod';

const MB = 1 << 20;

/** Limits of one command and everything it starts. */
export const commandLimits = z.strictObject({
  memoryMb: z.int().min(16).default(2048).describe('Memory, temporary files included.'),
  processes: z.int().min(8).default(1024).describe('Processes and threads at one time.'),
  fileMb: z.int().min(1).default(2048).describe('Size of one file that it writes.'),
  diskMb: z.int().min(1).default(8192).describe('Everything that it writes to disk.'),
  seconds: z.int().min(1).max(86_400).default(3600).describe('Time from start to end.'),
});
export type CommandLimits = Readonly<z.infer<typeof commandLimits>>;

/** A limit that ended a command. */
export type LimitName = 'memory' | 'processes' | 'file size' | 'disk' | 'time';

export const DEFAULT_LIMITS: CommandLimits = commandLimits.parse({});

/** Limits of an agent's process and everything it starts. Its time is not limited here. */
export const AGENT_LIMITS: CommandLimits = commandLimits.parse({
  ...{ memoryMb: 8192, processes: 4096, fileMb: 4096, diskMb: 16_384 },
});

export const bytesOf = (megabytes: number): number => megabytes * MB;

/** The limit in words, for the result of a command that it ended. */
export function describeLimit(
  limit: LimitName,
  { memoryMb, processes, fileMb, diskMb, seconds }: CommandLimits,
): string {
  switch (limit) {
    case 'memory':
      return `it used more than ${memoryMb} MB of memory (limits.memoryMb)`;
    case 'processes':
      return `it had more than ${processes} processes and threads (limits.processes)`;
    case 'file size':
      return `it wrote a file larger than ${fileMb} MB (limits.fileMb)`;
    case 'disk':
      return `it wrote more than ${diskMb} MB to disk, or all that was free (limits.diskMb)`;
    case 'time':
      return `it took longer than ${seconds} s (limits.seconds)`;
  }
}

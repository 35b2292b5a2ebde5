import type { Guard, WriteSet } from '@signalbox/runs';

/**
 * What a thread commits, as it goes to the host: one text, which takes half the time of a copy of all its objects. It holds no more
 * than JSON can; whether it is a commit is for the judge to say.
 */
export interface CommitMessage {
  readonly writes: WriteSet;
  readonly guard: Guard;
  /** How long the frames took that were made since the last commit, in milliseconds. */
  readonly frames: readonly number[];
}

export function commitText(message: CommitMessage): string {
  return JSON.stringify(message);
}

/** Throws on what is no such text. */
export function commitMessage(text: string): CommitMessage {
  const message = JSON.parse(text) as CommitMessage;
  if (!message.frames.every(Number.isFinite)) throw new TypeError('a commit has no times of frames');
  return message;
}

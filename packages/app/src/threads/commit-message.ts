import type { Guard, WriteSet } from '@signalbox/runs';

/**
 * A commit on its way from a thread to the host: one JSON text instead of a copy of every object, so it holds plain data only. The judge
 * decides whether it is valid.
 */
export interface CommitMessage {
  readonly writes: WriteSet;
  readonly guard: Guard;
  /** The durations of the frames since the last commit, in milliseconds. */
  readonly frames: readonly number[];
}

export function commitText(message: CommitMessage): string {
  return JSON.stringify(message);
}

/** Throws if the text is not a commit message. */
export function commitMessage(text: string): CommitMessage {
  const message = JSON.parse(text) as CommitMessage;
  if (!message.frames.every(Number.isFinite)) throw new TypeError('a commit has no times of frames');
  return message;
}

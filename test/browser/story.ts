import { beforeEach } from 'vitest';

/**
 * Says of a file that each of its tests goes on where the one before it ended: after one that failed, the others fail at once
 * and name it, where each would wait in vain for what that one did not come to.
 */
export function tellsOneStory(): void {
  let ended: string | undefined;
  beforeEach(({ task, onTestFailed }) => {
    if (ended !== undefined) throw new Error(`this goes on where another test ended, which failed: ${ended}`);
    onTestFailed(() => {
      ended ??= task.name;
    });
  });
}

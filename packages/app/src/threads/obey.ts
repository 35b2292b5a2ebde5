import type { CommandAnswer, PlanRun } from '@signalbox/plan';
import type { RunCommand } from './thread-api.ts';

/** Gives a command to the run that it is for. */
export function obey(live: PlanRun, command: RunCommand): Promise<CommandAnswer> {
  switch (command.kind) {
    case 'pause':
      return live.pause(command.by, command);
    case 'stop':
      return live.stop(command.reason, command.by);
    case 'terminate':
      return live.terminate(command.reason, command.by);
    case 'retry':
      return live.retry(command.node, command.by, command.policy);
    case 'reset':
      return live.reset(command.node, command.by);
    case 'edit':
      return live.edit(command);
    case 'raise':
      return live.raise(command.limits, command.by);
    case 'cancel':
      return live.cancel(command.node, command.by);
    case 'wake':
      return live.wake(command.node);
    case 'input':
      return live.input();
  }
}

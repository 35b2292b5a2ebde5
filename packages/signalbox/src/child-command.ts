import { type AddCommand, CHILD_COMMAND } from './command.ts';
import { exitCodes } from './exit-code.ts';

export const addChildCommand: AddCommand = (program, { end }) => {
  program
    .command(`${CHILD_COMMAND} <role> [args...]`, { hidden: true })
    .action(async (role: string, args: string[]) => {
      const { playChildRole } = await import('@signalbox/app');
      end((await playChildRole(role, args)) === 0 ? exitCodes.done : exitCodes.failed);
    });
};

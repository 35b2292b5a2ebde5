import { playChildRole } from '@signalbox/app';
import type { DefineCommand } from './command.ts';
import { exitCodes } from './exit-code.ts';

export const defineChild: DefineCommand = (command, { end }) => {
  command.action(async (role: string, args: string[]) => {
    end((await playChildRole(role, args)) === 0 ? exitCodes.done : exitCodes.failed);
  });
};

import { commands } from '../commands.ts';
import { programOf } from './own-program.ts';

export const main = programOf(...commands);

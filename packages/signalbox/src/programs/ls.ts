import './few-schemas.ts';
import { LIST } from '../command-words.ts';
import { defineList } from '../list-command.ts';
import { programOf } from './own-program.ts';

export const main = programOf({ ...LIST, load: async () => defineList });

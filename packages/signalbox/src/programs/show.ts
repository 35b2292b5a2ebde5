import './few-schemas.ts';
import { SHOW } from '../command-words.ts';
import { defineShow } from '../show-command.ts';
import { programOf } from './own-program.ts';

export const main = programOf({ ...SHOW, load: async () => defineShow });

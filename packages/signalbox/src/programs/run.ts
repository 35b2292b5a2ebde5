import './few-schemas.ts';
import { RESUME, RUN_PLAN } from '../command-words.ts';
import { defineResume, defineRun } from '../run-command.ts';
import { programOf } from './own-program.ts';

export const main = programOf(
  { ...RUN_PLAN, load: async () => defineRun },
  { ...RESUME, load: async () => defineResume },
);

import process from 'node:process';
import { playChildRole } from '../src/index.ts';

/** Plays the roles that the program plays when it is started again. */
process.exitCode = await playChildRole(process.argv[2] ?? '', process.argv.slice(3));

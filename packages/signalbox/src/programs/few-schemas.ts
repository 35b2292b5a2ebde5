import * as z from 'zod';

/**
 * For commands that check a few values and end. Import it first: compiling a schema takes longer than checking a hundred values with it
 * uncompiled.
 */
z.config({ jitless: true });

import * as z from 'zod';

/**
 * For pages whose content security policy forbids evaluation: imported before anything else, it keeps the schemas from trying
 * to compile themselves, which the browser would report as a breach.
 */
z.config({ jitless: true });

import * as z from 'zod';

/**
 * For pages whose content security policy forbids evaluation. Import it first: it keeps the schemas from compiling themselves, which the
 * browser would report as a violation.
 */
z.config({ jitless: true });

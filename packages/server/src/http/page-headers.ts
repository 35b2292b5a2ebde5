import type { MiddlewareHandler } from 'hono';

/** Headers of every answer: load nothing from elsewhere, run nothing inline, no framing, no type sniffing. */
export const pageHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  for (const [name, value] of Object.entries(fixed)) headers.set(name, value);
  // `Host` was already checked.
  headers.set(
    'Content-Security-Policy',
    [...policy, `connect-src 'self' ws://${context.req.header('host')}`].join('; '),
  );
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
};

const fixed = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
];

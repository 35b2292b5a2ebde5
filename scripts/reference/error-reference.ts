import { type ErrorCode, errorCodes } from '@signalbox/model';
import { errorCauses } from './error-causes.ts';

/** `docs/reference/errors.md`: every code with its cause and remedy. */
export function errorReference(): string {
  const sections = Object.entries(errorCodes).map(([domain, codes]) =>
    [`## ${domain}`, ['| code | cause | remedy |', '|---|---|---|', ...codes.map(rowOf)].join('\n')].join('\n\n'),
  );
  return `${[
    '# Errors',
    '<!-- Generated from packages/model/src/error-envelope.ts and scripts/reference/error-causes.ts; edits are lost. -->',
    `Every surface answers an error in the same form: \`code\`, \`message\` (what failed, which id, why), \`suggestion\` (what to do next) and \`retry\` (whether the same call may
succeed later). The list of codes is closed. The message of an error is more exact than this page.`,
    ...sections,
  ].join('\n\n')}\n`;
}

function rowOf(code: ErrorCode): string {
  const [cause, remedy] = errorCauses[code];
  return `| \`${code}\` | ${cause} | ${remedy} |`;
}

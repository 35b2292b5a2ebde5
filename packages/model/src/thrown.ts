/**
 * The message of a thrown value. Anything can be thrown, and even inspecting it may throw: an object without a prototype, a
 * getter, a proxy. These functions never throw.
 */
export function thrownMessage(thrown: unknown): string {
  return told(() => {
    if (typeof thrown !== 'object' || thrown === null || !('message' in thrown)) return String(thrown);
    const { message } = thrown;
    return issuesIn(thrown) ?? (typeof message === 'string' ? message : String(message));
  });
}

/** The same with the name of the error. */
export function thrownText(thrown: unknown): string {
  return told(() => (thrown instanceof Error ? `${thrown.name}: ${thrownMessage(thrown)}` : thrownMessage(thrown)));
}

/** The same with its stack, if known, for logs. */
export function thrownStack(thrown: unknown): string {
  return told(() => (thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : thrownText(thrown)));
}

/** The error of a schema has its problems as JSON in its message. */
function issuesIn(thrown: object): string | undefined {
  const { issues } = thrown as { readonly issues?: unknown };
  if (!Array.isArray(issues) || issues.length === 0) return undefined;
  const isIssue = ({ path, message }: Issue) => Array.isArray(path) && typeof message === 'string';
  return issues.every(isIssue) ? issuesText(issues, 'the value') : undefined;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** As many as a person fixes at once. */
const MAX_ISSUES = 20;

/** All problems that a schema found, each with its place; `whole` names the value itself. */
export function issuesText(issues: readonly Issue[], whole: string): string {
  if (issues.length === 0) return `${whole}: it does not fit`;
  const told = issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const place = path.length === 0 ? whole : path.map(String).join('.');
    return `${place}: ${message}`;
  });
  const more = issues.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

const UNSHOWN = 'a value that cannot be shown was thrown';

function told(look: () => string): string {
  try {
    return look();
  } catch {
    return UNSHOWN;
  }
}

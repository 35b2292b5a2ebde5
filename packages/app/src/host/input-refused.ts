import { type ErrorEnvelope, failure } from '@signalbox/model';

interface InputIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** As many as a person fixes at once. */
const MAX_ISSUES = 20;

/** The plan's own schema refuses: the first issue as text, all of them by their place in the input. */
export function inputRefused(plan: string, issues: readonly InputIssue[]): ErrorEnvelope<'command/usage'> {
  const [first] = issues;
  const where = first === undefined || first.path.length === 0 ? '' : `${first.path.map(String).join('.')}: `;
  return failure('command/usage', {
    message: `The plan ${plan} does not take this input: ${where}${first?.message ?? 'it does not fit'}.`,
    suggestion: 'Give an input that fits the schema of the plan, as JSON, with --input.',
    details: { issues: issues.slice(0, MAX_ISSUES).map(issueView) },
  });
}

function issueView({ path, message }: InputIssue) {
  return { path: path.map(part => (typeof part === 'number' ? part : String(part))), message };
}

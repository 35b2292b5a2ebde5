import { type ErrorEnvelope, failure, issuesText } from '@signalbox/model';

interface InputIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** As many as a person fixes at once. */
const MAX_ISSUES = 20;

/** The plan's own schema refuses: all problems as text, and each by its place in the input. */
export function inputRefused(plan: string, issues: readonly InputIssue[]): ErrorEnvelope<'command/usage'> {
  return failure('command/usage', {
    message: `The plan ${plan} does not take this input: ${issuesText(issues, 'the input')}.`,
    suggestion: 'Give an input that fits the schema of the plan, as JSON, with --input.',
    details: { issues: issues.slice(0, MAX_ISSUES).map(issueView) },
  });
}

function issueView({ path, message }: InputIssue) {
  return { path: path.map(part => (typeof part === 'number' ? part : String(part))), message };
}

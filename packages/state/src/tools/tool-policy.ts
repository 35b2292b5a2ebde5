import { err, failure, ok, type Result } from '@signalbox/model';
import type { AnyTool, ToolRisk } from './tool.ts';
import type { ToolFailure } from './tool-outcome.ts';

/** Which tools may run. A denied tool never runs, even if it is also allowed. */
export interface ToolPolicy {
  /** If given, all other tools are refused. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** The highest permitted risk. */
  readonly maxRisk?: ToolRisk;
}

const RISKS: readonly ToolRisk[] = ['low', 'medium', 'high'];

export function checkPolicy(policy: ToolPolicy, tool: AnyTool): Result<void, ToolFailure> {
  if (policy.deny?.includes(tool.name)) return err(refused(tool.name, 'it is denied'));
  if (policy.allow !== undefined && !policy.allow.includes(tool.name)) {
    return err(refused(tool.name, 'it is not among the allowed tools'));
  }
  if (policy.maxRisk !== undefined && RISKS.indexOf(tool.risk) > RISKS.indexOf(policy.maxRisk)) {
    return err(refused(tool.name, `its risk is ${tool.risk}, and the highest allowed is ${policy.maxRisk}`));
  }
  return ok(undefined);
}

function refused(name: string, reason: string): ToolFailure {
  return failure('tool/refused', {
    message: `the tool ${name} was not run: ${reason}`,
    suggestion: 'Use another tool, or ask for this one to be allowed.',
  });
}

import {
  type BlastRadius,
  type Severity,
  type ToolApprovalEvent,
  type ToolRiskClassification,
  UNCLASSIFIED_TOOL,
} from '@signalbox/model';

export interface ToolRisk {
  readonly severity: Severity;
  readonly blastRadius: BlastRadius;
  readonly confidence: number;
  readonly requiresRationale: boolean;
  /** Null: no classification knows the tool. */
  readonly pattern: string | null;
}

/** The risk of a tool call: what its event says, and the classifications for the rest. The most specific pattern wins. */
export function riskOf(event: ToolApprovalEvent, classifications: readonly ToolRiskClassification[]): ToolRisk {
  const found = classifications
    .filter(({ toolPattern }) => matchesGlob(toolPattern, event.toolName))
    .sort((a, b) => specificity(b.toolPattern) - specificity(a.toolPattern))[0];
  const known = found ?? UNCLASSIFIED_TOOL;
  return {
    severity: event.severity ?? known.defaultSeverity,
    blastRadius: event.blastRadius ?? known.defaultBlastRadius,
    confidence: event.confidence ?? known.defaultConfidence,
    requiresRationale: known.requiresRationale,
    pattern: found?.toolPattern ?? null,
  };
}
/** `*` is any text, `?` is any one character; case does not matter. */
export function matchesGlob(pattern: string, text: string): boolean {
  const [glob, name] = [pattern.toLowerCase(), text.toLowerCase()];
  let [at, from, star, resume] = [0, 0, -1, 0];
  while (from < name.length) {
    if (at < glob.length && glob[at] === '*') {
      star = at++;
      resume = from;
    } else if (at < glob.length && (glob[at] === '?' || glob[at] === name[from])) {
      at++;
      from++;
    } else if (star !== -1) {
      at = star + 1;
      from = ++resume;
    } else return false;
  }
  while (glob[at] === '*') at++;
  return at === glob.length;
}

/** A name without wildcards before any pattern, then the one with more fixed characters. */
function specificity(pattern: string): number {
  const fixed = pattern.replaceAll(/[*?]/g, '').length;
  return fixed === pattern.length ? fixed + 1_000 : fixed;
}

import type { VerifyReport } from '@signalbox/journal';

/** The lines of a scene. */
export type DemoLine =
  /** An action, or an observation. */
  | { readonly kind: 'text'; readonly text: string }
  /** The verifier's result, and the expected head if one was given. */
  | { readonly kind: 'verdict'; readonly report: VerifyReport; readonly expectHead?: string }
  /** A claim of the demo, and whether it holds. */
  | { readonly kind: 'claim'; readonly text: string; readonly holds: boolean };

export interface DemoStep {
  readonly step: number;
  readonly title: string;
  /** False if a claim does not hold. */
  readonly ok: boolean;
  readonly lines: readonly DemoLine[];
}

/** Records a scene while it is played. */
interface SceneLog {
  tell(text: string): void;
  verdict(report: VerifyReport, expectHead?: string): void;
  /** Returns whether the claim holds, so that a scene can end if it does not. */
  claim(text: string, holds: boolean): boolean;
}

export interface Scene<Stage> {
  readonly title: string;
  play(log: SceneLog, stage: Stage): Promise<void> | void;
}

export async function playScene<Stage>(step: number, scene: Scene<Stage>, stage: Stage): Promise<DemoStep> {
  const lines: DemoLine[] = [];
  await scene.play(
    {
      tell(text) {
        lines.push({ kind: 'text', text });
      },
      verdict(report, expectHead) {
        lines.push({ kind: 'verdict', report, ...(expectHead !== undefined && { expectHead }) });
      },
      claim(text, holds) {
        lines.push({ kind: 'claim', text, holds });
        return holds;
      },
    },
    stage,
  );
  return { step, title: scene.title, ok: lines.every(line => line.kind !== 'claim' || line.holds), lines };
}

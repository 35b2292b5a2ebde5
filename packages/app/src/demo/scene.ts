import type { VerifyReport } from '@signalbox/journal';

/** What a scene shows, line by line. */
export type DemoLine =
  /** What is done, or what can be seen. */
  | { readonly kind: 'text'; readonly text: string }
  /** What the verifier says, and of which head if it was given one. */
  | { readonly kind: 'verdict'; readonly report: VerifyReport; readonly expectHead?: string }
  /** What the demo claims, and whether it is so. */
  | { readonly kind: 'claim'; readonly text: string; readonly holds: boolean };

export interface DemoStep {
  readonly step: number;
  readonly title: string;
  /** False where a claim does not hold. */
  readonly ok: boolean;
  readonly lines: readonly DemoLine[];
}

/** Writes down a scene while it is played. */
interface SceneLog {
  tell(text: string): void;
  verdict(report: VerifyReport, expectHead?: string): void;
  /** Answers whether the claim holds, so that a scene can end where it does not. */
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

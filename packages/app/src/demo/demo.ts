import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import type { Program } from '../child/child-process.ts';
import { crashScene, recoverScene, writeScene } from './crash-scenes.ts';
import { openDemoDirectory } from './demo-directory.ts';
import { planScene } from './plan-scene.ts';
import { type DemoStep, playScene } from './scene.ts';
import { openStage } from './stage.ts';
import { rewriteScene, tamperScene } from './tamper-scenes.ts';
import { undoScene } from './undo-scene.ts';

export interface DemoOptions {
  /** Kept if given; must be new or empty. */
  readonly directory?: string | undefined;
  readonly program: Program;
  onStep(step: DemoStep): void;
}

export interface DemoOutcome {
  /** The journal in the demo's directory. */
  readonly journalPath: string;
  readonly head: string;
}

/**
 * Demonstrates the foundations of Signalbox: a crash, a recovery, two ways of tampering, an undone tool call, a plan that continues. Each
 * step is checked; the first that fails ends the demo.
 */
export async function playDemo({
  directory,
  program,
  onStep,
}: DemoOptions): Promise<Result<DemoOutcome, ErrorEnvelope>> {
  const opened = openDemoDirectory(directory);
  if (!opened.ok) return opened;
  const home = opened.value;
  try {
    const stage = openStage(home.path);
    const scenes = [
      writeScene,
      crashScene(home.path, program),
      recoverScene,
      tamperScene,
      rewriteScene,
      undoScene(home.path),
      planScene(home.path, program),
    ];
    for (const [index, scene] of scenes.entries()) {
      const step = await playScene(index + 1, scene, stage);
      onStep(step);
      if (!step.ok) return err(brokenStep(step));
    }
    const report = stage.verify();
    return report.ok ? ok({ journalPath: stage.journalPath, head: report.value.head }) : report;
  } finally {
    home.close();
  }
}

function brokenStep({ step, title, lines }: DemoStep): ErrorEnvelope<'command/unexpected'> {
  const broken = lines.flatMap(line => (line.kind === 'claim' && !line.holds ? [line.text] : []));
  return failure('command/unexpected', {
    message: `Step ${step} of the demo (${title}) failed. Not true: ${broken.join('; ')}.`,
    suggestion: 'Check this machine with "signalbox doctor". If it finds nothing, please report this.',
    details: { step, broken },
  });
}

import { type DemoLine, type DemoOutcome, type DemoStep, playDemo } from '@signalbox/app';
import type { CommandContext } from '../command.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { type Paint, paintOf, quoted, reportError, shown } from '../terminal.ts';

/** Plays the scenes in the terminal, then exits. */
export async function playScenes(
  { terminal, self, end }: CommandContext,
  { dir, json }: { readonly dir: string | undefined; readonly json: boolean },
): Promise<void> {
  const paint = paintOf(terminal);
  const played = await playDemo({
    directory: dir,
    program: self,
    onStep: step => terminal.print(json ? JSON.stringify(step) : `${describeStep(step, paint)}\n`),
  });
  if (!played.ok) {
    reportError(terminal, played.error, json);
    return end(exitCodeOf(played.error));
  }
  if (!json) terminal.print([paint.strong('What to try next'), ...nextCommands(played.value, dir)].join('\n   '));
  end(exitCodes.done);
}

export function describeStep({ step, title, lines }: DemoStep, paint: Paint): string {
  return [paint.strong(`${step}. ${title}`), ...lines.flatMap(line => describeLine(line, paint))].join('\n');
}

function describeLine(line: DemoLine, paint: Paint): readonly string[] {
  switch (line.kind) {
    case 'text':
      return [`     ${shown(line.text)}`];
    case 'claim':
      return [`   ${line.holds ? paint.good('✓') : paint.bad('✗')} ${shown(line.text)}`];
    case 'verdict': {
      const { ok, health, events, segments, pins, head, defect, notes } = line.report;
      const asked = line.expectHead === undefined ? 'verify' : `verify --expect-head ${short(line.expectHead)}`;
      const verdict = ok ? paint.good(`✓ ${health}`) : paint.bad(`✗ ${defect?.code ?? health}`);
      const counts = `${events} events, ${segments} segments, ${pins} pins, head ${short(head)}`;
      return [
        `   ${paint.faint('$')} ${asked}: ${verdict}${ok ? `, ${counts}` : ` in ${shown(defect?.file ?? '')}`}`,
        ...(defect === undefined ? [] : [`     ${shown(defect.meaning)}`]),
        ...notes.map(note => `     ${paint.doubtful('note')} ${shown(note)}`),
      ];
    }
  }
}

function short(digest: string): string {
  return `${digest.slice(0, 'sha256:'.length + 12)}…`;
}

/** Commands to try next; the files exist only if they were kept. */
function nextCommands({ journalPath, head }: DemoOutcome, kept: string | undefined): readonly string[] {
  if (kept === undefined) return [`signalbox demo --scenes --dir tour     play it again, and keep the files`];
  const journal = quoted(`${kept}/${journalPath}`);
  return [
    `cat ${journal}/manifest.jsonl`,
    `signalbox verify ${journal}`,
    `signalbox verify ${journal} --expect-head ${head}`,
    'Then change any byte of any file there, and verify again.',
  ];
}

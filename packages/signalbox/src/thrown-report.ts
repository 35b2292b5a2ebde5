import path from 'node:path';
import { codeFrame, editorUrl, readEditorUrl, type ThrownPlace } from '@signalbox/app/host';
import { askedDataDirectory } from './data-directory-option.ts';
import { type Paint, paintOf, shown, type Terminal } from './terminal.ts';

/** How a place is shown: the template of an editor's address, empty for none. */
export interface PlaceStyle {
  readonly paint: Paint;
  readonly editor: string;
}

/** Of a data directory, whose configuration names the editor; it is read when a place is shown. */
export function placeStyle(terminal: Terminal, dataDir: string | undefined): PlaceStyle {
  return {
    paint: paintOf(terminal),
    get editor() {
      return readEditorUrl(askedDataDirectory(dataDir));
    },
  };
}

/** Callers after the place itself. */
const MAX_CALLERS = 3;

/** Where the author's code threw: the place, its lines, who called it, and the element. */
export function describeThrown(thrown: ThrownPlace | undefined, style: PlaceStyle): readonly string[] {
  if (thrown === undefined) return [];
  const { paint } = style;
  const { stack = [], element, reads = [] } = thrown;
  const callers = stack.slice(1, 1 + MAX_CALLERS).map(call => `from ${shown(nearCall(call))}`);
  const name = element === undefined ? '' : [element.kind, element.id].filter(part => part !== undefined).join(' ');
  const at = element?.at === undefined ? '' : ` (${near(element.at.file)}:${element.at.line}:${element.at.column})`;
  const read = reads.length === 0 ? '' : `${name === '' ? '' : ', '}having read ${reads.join(', ')}`;
  const around = name === '' ? read : `in ${name}${at}${read}`;
  return [
    `at ${describePlace(thrown, style)}`,
    ...codeFrame(thrown).map(line => `  ${line.startsWith('>') ? shown(line) : paint.faint(shown(line))}`),
    ...callers.map(paint.faint),
    ...(around === '' ? [] : [paint.faint(shown(around))]),
  ];
}

/** The place alone; it opens the editor. */
export function describePlace(thrown: ThrownPlace, { paint, editor }: PlaceStyle): string {
  const text = shown(`${near(thrown.file)}:${thrown.line}:${thrown.column}`);
  return editor === '' ? text : paint.link(text, editorUrl(editor, thrown));
}

/** A path as seen from the working directory, if it lies below it. */
function near(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

function nearCall(call: string): string {
  const [, before = '', file = call, after = ''] = /^(.*? \()?(.+?)((?::\d+)+\)?)$/.exec(call) ?? [];
  return `${before}${near(file)}${after}`;
}

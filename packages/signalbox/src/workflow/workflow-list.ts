import { type ListAnswer, openGuidedTools } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { namedDataDirectory } from '../data-directory-option.ts';
import { type Paint, shown } from '../terminal.ts';
import { workflowPlaces } from './workflow-places.ts';

/** The agent tools, for a person. They write nothing: only workflows are read here, not sessions. */
export function workflowTools(asked: readonly string[] | undefined) {
  return openGuidedTools({
    dataDirectory: namedDataDirectory(undefined),
    directories: workflowPlaces(asked),
    machine: thisMachine(),
  });
}

type Listed = ListAnswer['workflows'][number];

/** A workflow with a short status. */
export function withStatus(listed: Listed) {
  const status = listed.workflowHash === undefined ? 'invalid' : listed.idStatus === 'legacy' ? 'legacy' : 'ok';
  return { ...listed, status } as const;
}

export function describeList(workflows: readonly Listed[], paint: Paint): string {
  const width = (pick: (each: Listed) => string) => Math.max(0, ...workflows.map(each => shown(pick(each)).length));
  const ids = width(each => each.workflowId);
  const names = width(each => each.name);
  const marks = { ok: paint.good('✓'), legacy: paint.doubtful('!'), invalid: paint.bad('✗') };
  return workflows
    .map(withStatus)
    .map(({ status, workflowId, name, sourceKind, isRoutine, suggestedId }) => {
      const said = {
        ok: '',
        legacy: `  legacy id, should be ${shown(suggestedId ?? '')}`,
        invalid: '  cannot be run: see "signalbox workflow validate"',
      }[status];
      const kind = `${sourceKind}${isRoutine ? ' routine' : ''}`;
      return `${marks[status]} ${shown(workflowId).padEnd(ids)}  ${shown(name).padEnd(names)}  ${kind}${said}`;
    })
    .join('\n');
}

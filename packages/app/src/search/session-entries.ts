import { existsSync } from 'node:fs';
import path from 'node:path';
import type { SearchEntry, SearchIndex } from '@signalbox/store';

/** Sessions are known in the index by their id with this before it: a run may have the same. */
const PREFIX = 'session:';

/** Indexes the notes of guided sessions that changed. Their code is loaded only if there are any. */
export async function refreshSessions(
  dataDirectory: string,
  index: SearchIndex,
  isEnding: () => boolean,
): Promise<number> {
  if (!existsSync(path.join(dataDirectory, 'sessions'))) return 0;
  const { listSessions, showSession } = await import('../guided/guided-home.ts');
  const sessions = listSessions({ dataDirectory });
  if (!sessions.ok) return 0;
  const known = index.logs();
  const present = new Set(sessions.value.map(({ sessionId }) => `${PREFIX}${sessionId}`));
  for (const id of known.keys()) if (id.startsWith(PREFIX) && !present.has(id)) index.forget(id);
  let left = 0;
  for (const { sessionId, head, events, recap } of sessions.value) {
    const id = `${PREFIX}${sessionId}`;
    const before = known.get(id);
    if (before?.mark === head) continue;
    if (isEnding()) return left + 1;
    const shown = await showSession({ dataDirectory, directories: [] }, sessionId);
    if (!shown.ok) {
      left += 1;
      continue;
    }
    const at = shown.value.lastActiveAt;
    const entries = shown.value.runs.flatMap(({ runId, name, workflow, nodes, gaps }): readonly SearchEntry[] => {
      const of = { session: sessionId, run: runId, at };
      const title = name ?? workflow?.workflowId ?? 'Guided session';
      const run: SearchEntry = { kind: 'run', key: runId, title, body: `${runId} ${sessionId} ${recap ?? ''}`, ...of };
      const notes = nodes.flatMap(({ nodeId, step, notes: text, artifacts = [] }): readonly SearchEntry[] => {
        const body = [text, ...artifacts.map(artifact => artifact.text)].filter(part => part !== undefined).join('\n');
        return body === ''
          ? []
          : [{ kind: 'note', key: nodeId, node: nodeId, title: step?.title ?? title, body, ...of }];
      });
      const asked = gaps.map(
        ({ gapId, summary }): SearchEntry => ({ kind: 'note', key: gapId, title: 'Gap', body: summary, ...of }),
      );
      return [run, ...notes, ...asked];
    });
    const name = shown.value.runs[0]?.name;
    index.put({
      id,
      run: shown.value.runs[0]?.runId,
      name,
      from: before?.records ?? 0,
      records: events,
      mark: head,
      entries,
    });
  }
  return left;
}

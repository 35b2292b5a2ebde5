import { nodeHasher } from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  namesId,
  ok,
  type Result,
  type SessionId,
} from '@signalbox/model';
import {
  type DomainEvent,
  type Gap,
  type GapAnswer,
  type GapId,
  isUnresolved,
  planGapAnswer,
  projectGaps,
} from '@signalbox/workflow';
import type { GuidedPorts } from '../ports.ts';
import { contradiction } from './guided-failures.ts';
import { openSessionFiles, type SessionFilesOptions } from './session-files.ts';
import { type ShownQuestion, shownQuestion } from './shown-question.ts';

/** A question in a guided session that only the person can answer. */
export interface WaitingGap {
  readonly sessionId: SessionId;
  readonly gap: Gap;
  /** The hash of the shown question; an answer with it is void if the question or the proposal has changed. */
  readonly shown: Digest;
  readonly question: ShownQuestion;
}

/** The person's side of guided sessions. The journal is the truth: an answer is the record that resolves its gap. */
export interface GuidedDesk {
  /** Open gaps, session by session, in the order of recording. Unhealthy sessions are left out. */
  waiting(): Result<readonly WaitingGap[], ErrorEnvelope>;
  /** A gap for the person, open or resolved, by a prefix of its id. */
  find(sessionId: SessionId, given: string): Result<WaitingGap, ErrorEnvelope>;
  /** An answer counts once; a second one returns the first. */
  answer(sessionId: SessionId, gapId: GapId, given: GapAnswer): Promise<Result<Gap, ErrorEnvelope>>;
}

export interface GuidedDeskOptions extends SessionFilesOptions {
  readonly ports: Pick<GuidedPorts, 'openBlobs' | 'openSecrets'>;
}

export function openGuidedDesk(
  options: GuidedDeskOptions,
  { reader, writer }: Pick<ReturnType<typeof openSessionFiles>, 'reader' | 'writer'> = openSessionFiles(options),
): GuidedDesk {
  const asked = (sessionId: SessionId, events: readonly DomainEvent[], gap: Gap): WaitingGap => {
    const question = shownQuestion(reader, events, gap);
    return { sessionId, gap, shown: question.hash, question };
  };
  return {
    waiting() {
      const ids = reader.sessions();
      if (!ids.ok) return ids;
      const waiting: WaitingGap[] = [];
      for (const sessionId of ids.value) {
        const read = reader.salvage(sessionId);
        if (!read.ok) return read;
        if (read.value.health !== 'healthy') continue;
        const events = read.value.view.events();
        for (const gap of projectGaps(events)) {
          if (gap.reason.category !== 'user_only_dependency' || !isUnresolved(gap)) continue;
          waiting.push(asked(sessionId, events, gap));
        }
      }
      return ok(waiting);
    },

    find(sessionId, given) {
      const view = reader.view(sessionId);
      if (!view.ok) return view;
      const found = projectGaps(view.value.events()).filter(
        ({ gapId, reason }) => reason.category === 'user_only_dependency' && namesId(gapId, given),
      );
      const [gap, second] = found;
      if (gap === undefined || second !== undefined) return err(unknownGap(sessionId, given, found.length));
      return ok(asked(sessionId, view.value.events(), gap));
    },

    async answer(sessionId, gapId, said) {
      const { filter } = options.ports.openSecrets({
        dataDirectory: options.dataDirectory,
        env: process.env,
        readOnly: options.disk !== undefined,
      });
      const given = filter.data(said);
      const view = reader.view(sessionId);
      if (!view.ok) return view;
      const hashIn = (events: readonly DomainEvent[]) => (gap: Gap) => shownQuestion(reader, events, gap).hash;
      const possible = planGapAnswer(
        nodeHasher,
        sessionId,
        view.value.events(),
        gapId,
        given,
        hashIn(view.value.events()),
      );
      if (!possible.ok) return possible;
      const written = await writer.write<ErrorEnvelope>(sessionId, now => {
        const planned = planGapAnswer(nodeHasher, sessionId, now.events(), gapId, given, hashIn(now.events()));
        if (!planned.ok) return planned;
        return ok(planned.value.kind === 'answered' ? undefined : { planned: planned.value });
      });
      if (!written.ok) return written;
      const answered = projectGaps(written.value.events()).find(gap => gap.gapId === gapId);
      return answered === undefined
        ? err(contradiction(sessionId, `gap ${gapId} that was answered is not recorded`))
        : ok(answered);
    },
  };
}

function unknownGap(sessionId: SessionId, given: string, count: number) {
  return failure('decision/unknown', {
    message:
      count === 0
        ? `Session ${sessionId} has no gap ${given} that a person can answer.`
        : `${count} gaps of session ${sessionId} begin with ${given}.`,
    suggestion: 'List them with "signalbox decisions" or "signalbox show", and give enough of the id.',
    details: { sessionId },
  });
}

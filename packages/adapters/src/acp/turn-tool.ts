import { Bug, json } from '@signalbox/model';
import { type AnyTool, defineTool, fail, succeed } from '@signalbox/state';
import * as z from 'zod';
import type { TurnEnd, TurnPlace } from './agent-turn.ts';
import { AGENT_TURN } from './turn-history.ts';

/** The tool whose one call is the agent's turn. It fails by throwing: a failed turn is never tried again without a layer. */
export function turnTool(isHeld: () => boolean, work: (place: TurnPlace) => Promise<TurnEnd>): AnyTool {
  return defineTool({
    name: AGENT_TURN,
    description: "Runs one turn of an agent's own program.",
    input: z.strictObject({ agent: z.string() }),
    output: z.strictObject({ output: json }),
    risk: 'low',
    effects: { kind: 'files', onLayer: 'or-copy' },
    async handler(_, place) {
      const { root } = place;
      if (root === null) return fail('An agent needs a working directory.');
      const end = await work({ ...place, root });
      if (end.kind === 'answered')
        return { ...succeed({ output: end.output }), hold: isHeld() ? true : 'if-not-applied' };
      throw new TurnFailed(end.kind === 'failed' ? end.error.message : end.reason);
    },
  });
}

class TurnFailed extends Error {
  override readonly name = 'TurnFailed';
}

/** The same tool for turns that are over: it says what their calls are, and is never run. */
export const pastTurn: AnyTool = turnTool(
  () => true,
  async () => {
    throw new Bug('a turn that is over is not run');
  },
);

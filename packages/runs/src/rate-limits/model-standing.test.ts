import { describe, expect, it } from 'vitest';
import {
  type CallReport,
  healthOfModel,
  healthOfProvider,
  MAX_STANDINGS,
  type ModelStanding,
  openWindows,
  recordCall,
  type Standings,
} from './model-standing.ts';

const opus = { provider: 'anthropic', model: 'opus' };
const none: Standings = new Map();
const error = { code: 'provider-failed', message: 'it is down' };
const refused: CallReport = { kind: 'refused', retryAfterMs: 1_000, error: { ...error, code: 'rate_limit' } };
const failed: CallReport = { kind: 'failed', error };

function after(...reports: readonly (CallReport | undefined)[]): ModelStanding {
  let standings = none;
  for (const [now, report] of reports.entries()) standings = recordCall(standings, opus, report, now);
  return [...standings.values()][0] as ModelStanding;
}

describe('how a model stands', () => {
  it('[L62] follows from its last call that was not canceled', () => {
    expect(healthOfModel(after(undefined), undefined, 9)).toBe('unknown');
    expect(healthOfModel(after({ kind: 'answered' }, undefined), undefined, 9)).toBe('ok');
    expect(healthOfModel(after({ kind: 'answered' }, failed), undefined, 9)).toBe('failing');
    expect(healthOfModel(after(refused), 10, 9)).toBe('limited');
    expect(healthOfModel(after(refused), 9, 9)).toBe('unknown');
    expect(healthOfModel(after(failed, { kind: 'answered' }), 9, 9)).toBe('ok');
  });

  it('[L62] counts failures in a row, and keeps the last error and its moment', () => {
    expect(after({ kind: 'answered' }, refused, failed)).toEqual({
      name: opus,
      calls: 3,
      failuresInRow: 2,
      last: 'failed',
      lastUsedAt: 2,
      lastError: { at: 2, ...error },
      windows: [],
    });
    expect(after(failed, { kind: 'answered' })).toMatchObject({ failuresInRow: 0, lastError: { at: 0, ...error } });
    expect(after({ kind: 'failed', error: { ...error, message: 'x '.repeat(9_999) } }).lastError?.message).toHaveLength(
      500,
    );
  });

  it('[L62] makes its provider as well as the worst that is known', () => {
    expect(healthOfProvider([])).toBe('unknown');
    expect(healthOfProvider(['unknown', 'ok'])).toBe('ok');
    expect(healthOfProvider(['ok', 'limited'])).toBe('limited');
    expect(healthOfProvider(['failing', 'limited', 'ok'])).toBe('failing');
  });

  it('[L63] has of each limit what was said last, until that is over', () => {
    const standing = after(
      {
        kind: 'answered',
        windows: [
          { counts: 'requests', limit: 50, remaining: 7, resetsAt: 100 },
          { counts: 'tokens', remaining: 1 },
        ],
      },
      { kind: 'answered', windows: [{ counts: 'requests', limit: 50, remaining: 6, resetsAt: 200 }] },
      { kind: 'answered' },
    );
    const requests = { counts: 'requests', limit: 50, remaining: 6, resetsAt: 200 };
    expect(openWindows(standing, 199)).toEqual([{ counts: 'tokens', remaining: 1 }, requests]);
    expect(openWindows(standing, 200)).toEqual([{ counts: 'tokens', remaining: 1 }]);
  });

  it('[L64] is forgotten first where it was not used for longest', () => {
    let standings = none;
    for (let number = 0; number <= MAX_STANDINGS; number += 1) {
      standings = recordCall(standings, { provider: 'acme', model: `m${number}` }, { kind: 'answered' }, number);
      standings = recordCall(standings, opus, undefined, number);
    }
    expect(standings.size).toBe(MAX_STANDINGS);
    const models = [...standings.values()].map(({ name }) => name.model);
    expect([models[0], models.at(-1)]).toEqual(['m2', 'opus']);
  });
});

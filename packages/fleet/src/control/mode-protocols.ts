import type { ControlMode, EscalationProtocol } from '@signalbox/model';

/**
 * What each control mode escalates, as the specification has it. Orchestrator mode offers every tool and asks (R27), so its list of allowed
 * tools is not here.
 */
export const modeProtocols: { readonly [Mode in ControlMode]: EscalationProtocol } = {
  orchestrator: {
    alwaysEscalate: ['write', 'edit', 'execute', 'deploy', 'delete'],
    escalateWhen: [],
    neverEscalate: ['read', 'search'],
  },
  adaptive: {
    alwaysEscalate: ['delete', 'deploy'],
    escalateWhen: [
      {
        predicate: {
          type: 'and',
          rules: [
            { field: 'confidence', op: 'lt', value: 0.8 },
            { field: 'blastRadius', op: 'gte', value: 'medium' },
          ],
        },
        description: 'Low confidence + non-trivial blast radius',
      },
      {
        predicate: { field: 'trustScore', op: 'lt', value: 70 },
        description: 'Low-trust agent -- escalate all non-trivial actions',
      },
      {
        predicate: { field: 'affectsMultipleWorkstreams', op: 'eq', value: true },
        description: 'Cross-workstream actions need human sign-off',
      },
    ],
    neverEscalate: [],
  },
  ecosystem: {
    alwaysEscalate: ['delete', 'deploy'],
    escalateWhen: [
      {
        predicate: { field: 'confidence', op: 'lt', value: 0.5 },
        description: 'Low confidence decisions need human review',
      },
    ],
    neverEscalate: ['read', 'search', 'write', 'edit', 'execute'],
  },
};

/** The rules of a mode and those of an agent: both count, so that an agent's own can only add to the mode's (R21). */
export function joinedProtocol(mode: ControlMode, own: EscalationProtocol): EscalationProtocol {
  const base = modeProtocols[mode];
  return {
    alwaysEscalate: [...new Set([...base.alwaysEscalate, ...own.alwaysEscalate])],
    escalateWhen: [...base.escalateWhen, ...own.escalateWhen],
    neverEscalate: base.neverEscalate.filter(word => !own.alwaysEscalate.includes(word)),
  };
}

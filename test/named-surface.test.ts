import { runEvent } from '@signalbox/model';
import { internalEvent } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { configParts } from '../packages/app/src/settings/config-parts.ts';
import * as plan from '../packages/plan/src/index.ts';
import * as components from '../packages/plan/src/nodes/components.ts';
import * as planApi from '../packages/plan/src/plan-api.ts';
import {
  agentOfferAccess,
  agentToolAccess,
  operatorResourceAccess,
  operatorToolAccess,
  routeAccess,
  socketAccess,
} from '../packages/server/src/access/access-table.ts';
import { commands } from '../packages/signalbox/src/commands.ts';
import * as signalbox from '../packages/signalbox/src/index.ts';
import { readSources } from './source-file.ts';
import { namedIn, unnamed } from './spec-coverage/named-in-rules.ts';

/** Everything that people and programs can call by name, by kind. Whatever is added here needs a rule, and a rule needs a test. */
const surface: Readonly<Record<string, readonly string[]>> = {
  command: commands.map(({ syntax }) => syntax.split(' ')[0] ?? ''),
  component: Object.keys(components),
  event: [...internalEvent.options, ...runEvent.options].map(option => option.shape.type.value),
  route: Object.keys(routeAccess),
  tool: [...Object.keys(operatorToolAccess), ...Object.keys(agentToolAccess)],
  resource: [...Object.keys(operatorResourceAccess), ...Object.keys(agentOfferAccess)],
  message: Object.keys(socketAccess),
  setting: settings(),
};

/** The parts of `config.json` that something reads. */
function settings(): readonly string[] {
  const sources = readSources(file => /^packages\/[^/]+\/src\/.*\.ts$/.test(file) && !file.endsWith('.test.ts'));
  return sources.flatMap(({ source }) =>
    [...source.matchAll(/(?<!function )readConfigPart\([^']*'(\w+)'/g)].map(match => match[1] ?? ''),
  );
}

describe('what people and programs call by name', () => {
  const named = namedIn(readSources(file => /^packages\/[^/]+\/SPEC\.md$/.test(file)));

  it.each(Object.entries(surface))('has a rule that names every %s', (_kind, names) => {
    expect(names.length).toBeGreaterThan(0);
    expect(unnamed(names, named)).toEqual([]);
  });
});

describe('config.json', () => {
  it('has every part that something reads in its table, whose keys the reference explains', () => {
    expect([...new Set(settings())].toSorted()).toEqual(Object.keys(configParts));
  });
});

describe('components', () => {
  it.each([
    ['packages/plan/src/plan-api.ts', planApi],
    ['packages/plan/src/index.ts', plan],
    ['packages/signalbox/src/index.ts', signalbox],
  ])('are all exported by %s', (_file, exported) => {
    expect(Object.keys(components).filter(name => !(name in exported))).toEqual([]);
  });
});

describe('namedIn', () => {
  const spec = (source: string) => namedIn([{ path: 'packages/x/SPEC.md', source }]);

  it('reads the names of rules, also where a rule goes over several lines', () => {
    const named = spec('# `outside`\n\nText with `prose`.\n\n- **X1** `one` and\n  `two`\n- no rule: `three`\n');
    expect([...named]).toEqual(['one', 'two']);
    expect(unnamed(['one', 'three', 'prose'], named)).toEqual(['three', 'prose']);
  });
});

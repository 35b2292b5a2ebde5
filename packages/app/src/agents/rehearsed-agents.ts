import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Json, type JsonObject, parsedJson } from '@signalbox/model';
import type { AgentOutcome, AgentRunner, Assignment } from '@signalbox/runs';
import * as z from 'zod';
import { sampleOf } from './schema-sample.ts';

/** Beside a plan: what its agents answer in a rehearsal, by the id of their node, by its beginning and `*`, or for all of them by `*`. */
const ANSWERS_FILE = 'rehearsal.json';

/**
 * Agents without models: each answers what `rehearsal.json` says, or the smallest output that fits its schema. A model that is scripted
 * already is played by the real agents.
 */
export function rehearsedAgents(real: AgentRunner): AgentRunner {
  return {
    async run(assignment, session): Promise<AgentOutcome> {
      if (assignment.model?.startsWith('scripted:') === true) return real.run(assignment, session);
      const outcome = rehearsed(assignment);
      if (outcome.kind === 'done') session.stream('token', `${textOf(outcome.output)}\n`);
      return outcome;
    },
  };
}

function rehearsed(assignment: Assignment): AgentOutcome {
  const { node, planDirectory, schema } = assignment;
  const file = path.join(planDirectory, ANSWERS_FILE);
  const answers = readAnswers(file);
  if (answers === undefined) return failed(`${file} is not JSON: an object of outputs by node`);
  const name = nameFor(Object.keys(answers), node);
  const output = name === undefined ? outputFor(assignment) : (answers[name] ?? null);
  const fit = schema === undefined ? undefined : z.fromJSONSchema(schema as never).safeParse(output);
  if (fit === undefined || fit.success) return { kind: 'done', output };
  return failed(
    name === undefined
      ? `No output that fits the schema of ${node} could be made up. Write one into ${file}: {"${node}": …}`
      : `The output of "${name}" in ${file} does not fit the schema of ${node}: ${z.prettifyError(fit.error)}`,
  );
}

function outputFor({ node, schema }: Assignment): Json {
  return schema === undefined ? `What ${node} would answer.` : sampleOf(schema);
}

function nameFor(names: readonly string[], node: string): string | undefined {
  if (names.includes(node)) return node;
  const fitting = names.filter(name => name.endsWith('*') && node.startsWith(name.slice(0, -1)));
  return fitting.toSorted((a, b) => b.length - a.length)[0];
}

/** Undefined if the file is there and holds something else. */
function readAnswers(file: string): JsonObject | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  return z.record(z.string(), z.json()).safeParse(parsedJson(text)).data as JsonObject | undefined;
}

function textOf(output: Json): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function failed(message: string): AgentOutcome {
  return { kind: 'failed', error: { class: 'terminal', code: 'not-rehearsed', message } };
}

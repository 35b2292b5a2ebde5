import { type BriefChanges, type Json, withoutTrustRules } from '@signalbox/model';

/**
 * What leaves for an agent, without anything about trust (R14): no rule that reads the score, and no field named after it, wherever it is.
 * The fleet applies all rules; a brief only tells an agent when it is going to be asked.
 */
export function withoutTrust<Part extends BriefChanges>(brief: Part): Part {
  const { escalationProtocol } = brief;
  const rules = escalationProtocol === undefined ? {} : { escalationProtocol: withoutTrustRules(escalationProtocol) };
  // Fields are taken away only where the schema does not name them.
  return fieldsWithoutTrust({ ...brief, ...rules } as unknown as Json) as unknown as Part;
}

function fieldsWithoutTrust(value: Json): Json {
  if (Array.isArray(value)) return value.map(fieldsWithoutTrust);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !/^trust_?(score|profile)s?$/i.test(key))
      .map(([key, member]) => [key, member === undefined ? member : fieldsWithoutTrust(member)]),
  );
}

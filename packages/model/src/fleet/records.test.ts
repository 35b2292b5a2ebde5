import { describe, expect, it } from 'vitest';
import { fleetRecords } from '../../test/fleet-records.ts';
import { openObjects, refusal, withText } from '../../test/refusal.ts';

describe('the records of the fleet', () => {
  it.each(fleetRecords)('[M200] $file: accepts its sample and returns it', ({ schema, sample }) => {
    expect(schema.parse(sample)).toEqual(sample);
  });

  it.each(fleetRecords)('[M200] $file: refuses undeclared fields except in free-form data', record => {
    expect(openObjects(record.schema, record.sample)).toEqual(record.freeForm ?? []);
  });

  it.each(fleetRecords)('[M200] $file: is an object', ({ schema }) => {
    const others = [null, undefined, [], 'text', 1, true];
    expect(others.filter(value => refusal(schema, value).length === 0)).toEqual([]);
  });

  it.each(fleetRecords)('[M201] $file: has no text without a UTF-8 form', ({ schema, sample }) => {
    const variants = withText(sample, '\ud800');
    expect(variants.filter(value => refusal(schema, value).length === 0)).toEqual([]);
  });
});

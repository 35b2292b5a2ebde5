import { createClient } from '@signalbox/client';
import { type Operation, operations } from '@signalbox/model';
import { describe, expect, expectTypeOf, it } from 'vitest';

/** A client, and what it sends. */
function recorded() {
  const sent: { readonly method: string; readonly url: string; readonly body?: string }[] = [];
  const fetch = async (url: string, { method, body }: { readonly method: string; readonly body?: string }) => {
    sent.push({ method, url, ...(body !== undefined && { body }) });
    return new Response('', { status: 500 });
  };
  return { sent, client: createClient({ url: 'http://server', token: 'token', fetch }) };
}

const called = Object.entries<Operation>(operations).filter(
  ([, { route, needs, answer }]) => needs !== 'no token' && answer !== undefined && route.includes(' /api/'),
);

describe('methods', () => {
  it.each(called)('[C1] %s asks for its route, with its fields in the query or the body', async (name, operation) => {
    const { sent, client } = recorded();
    const { route, input, args = [] } = operation;
    const [method = '', pattern = ''] = route.split(' ');
    const parts = [...pattern.matchAll(/:\w+/g)].map((_, index) => `part ${index}`);
    const fields = args.map(arg => [arg, `a ${arg}`] as const);
    const methods = client as unknown as Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>;
    await methods[name]?.(...parts, ...fields.map(([, value]) => value));
    let part = 0;
    const path = pattern.replace(/:\w+/g, () => encodeURIComponent(`part ${part++}`));
    const asked = name === 'events' ? [['view', 'stored']] : fields;
    const query = asked.map(([field, value]) => `${field}=${encodeURIComponent(value ?? '')}`).join('&');
    expect(sent).toEqual([
      method === 'GET'
        ? { method, url: `http://server${path}${query && `?${query}`}` }
        : { method, url: `http://server${path}`, ...(input && { body: JSON.stringify(Object.fromEntries(fields)) }) },
    ]);
  });

  it('[C1] take what their operation takes, and nothing else', () => {
    const { client } = recorded();
    expectTypeOf(client.reset).parameters.toExtend<[string, string]>();
    expectTypeOf(client.stop).parameter(1).toEqualTypeOf<string | undefined>();
    expectTypeOf(client.users).returns.resolves.toHaveProperty('ok');
    // @ts-expect-error a field that users do not have
    expectTypeOf(client.users).toBeCallableWith({ odd: 1 });
    // @ts-expect-error a fork begins somewhere
    expectTypeOf(client.fork).toBeCallableWith('run' as never);
    // @ts-expect-error there is no such operation
    expect(client.explode).toBeUndefined();
  });
});

import { globalRegistry, type ZodType } from 'zod';

/**
 * A schema that is made when something is first asked of it. From then on it is that schema, with its prototype and its properties;
 * until then it is an empty object whose prototype waits for the question. So what a schema is compared and registered by, the object,
 * is one throughout.
 */
export function lazySchema<Schema extends ZodType>(make: () => Schema): Schema {
  const become = (): void => {
    if (Object.getPrototypeOf(schema) !== waiting) return;
    const made = make();
    Object.setPrototypeOf(schema, Object.getPrototypeOf(made));
    Object.defineProperties(schema, Object.getOwnPropertyDescriptors(made));
    // A description is registered for the object that was made.
    if (globalRegistry.has(made)) globalRegistry.add(schema, globalRegistry.get(made) ?? {});
  };
  const waiting = new Proxy(
    {},
    {
      get(_, key) {
        become();
        return Reflect.get(schema, key);
      },
      has(_, key) {
        become();
        return Reflect.has(schema, key);
      },
      set(_, key, value) {
        become();
        return Reflect.set(schema, key, value);
      },
    },
  );
  const schema: Schema = Object.create(waiting);
  return schema;
}

import { globalRegistry, type ZodType } from 'zod';

/**
 * A schema that is made when something is first asked of it. From then on it is that schema, with its prototype and its properties;
 * until then it is an empty object whose prototype waits for the question. It stays the same object throughout: others compare and
 * register schemas by it.
 */
export function lazySchema<Schema extends ZodType>(make: () => Schema): Schema {
  const become = (): void => {
    if (Object.getPrototypeOf(schema) !== waiting) return;
    const made = make();
    const { constr, def, parent } = made._zod;
    Object.setPrototypeOf(schema, Object.getPrototypeOf(made));
    // Made once more in place: the functions of a schema know it by the object that was initialised.
    const init: unknown = Reflect.get(constr, 'init');
    if (typeof init !== 'function') throw new Error('zod no longer initialises a schema in place');
    init(schema, def);
    for (const complete of schema._zod.deferred ?? []) complete();
    schema._zod.deferred = undefined;
    if (parent !== undefined) schema._zod.parent = parent;
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

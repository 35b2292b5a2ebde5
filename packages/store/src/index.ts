export { openStore, type Store, type StoreError, type StoreOptions } from './open-store.ts';
export { StoreDamage } from './sqlite/json-column.ts';

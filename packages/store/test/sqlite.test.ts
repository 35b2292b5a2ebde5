import { describeRunStore } from '../../runs/test/contract/run-store.ts';
import { temporaryStore } from './support/stores.ts';

describeRunStore('SQLite', () => temporaryStore());

import path from 'node:path';

export const databaseOf = (home: string): string => path.join(home, 'db.sqlite');

import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { deriveId, type ProjectId, parsedJson, projectId } from '@signalbox/model';
import * as z from 'zod';

const projectFile = z.looseObject({ id: projectId });

/** The id of the project in a directory: from its `.signalbox/project.json`, otherwise derived from where it is. */
export function projectIdOf(directory: string): ProjectId {
  const place = realpathSync(directory);
  const named = projectFile.safeParse(parsedJson(fileText(path.join(place, '.signalbox', 'project.json'))));
  return named.success ? named.data.id : deriveId<ProjectId>('project', place);
}

function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

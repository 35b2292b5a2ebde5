// A run with files of its own that keeps things to look at.
import { definePlan, Task } from 'signalbox';
import * as z from 'zod';

/** Eight bars. */
const bars =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAGAAAAAwAQMAAADU2O2MAAAABlBMVEXm7OgujGKdzL6AAAAALklEQVR42mNgoAjw/yGZ8/881Tj/D5DK4f+Dh3P+D3U4/H/I4UBYJHDgrKHEAQCR9Tp6PylhiQAAAABJRU5ErkJggg==';

export default definePlan({
  name: 'notes',
  workspace: true,
  state: z.object({ written: z.boolean().default(false) }),
  render: ctx => (
    <Task
      id="write"
      label="Write the notes"
      run={async ({ fs, artifact }) => {
        fs.write('CHANGES.md', '# All of it is new\n');
        await artifact.markdown(
          'Release notes',
          '## 2.4.0\n\n- Runs can be **searched**.\n- The export is twice as fast.',
        );
        await artifact.table(
          'Timings',
          ['step', 'seconds'],
          [
            { step: 'build', seconds: 41 },
            { step: 'tests', seconds: 128 },
            { step: 'upload', seconds: 9 },
          ],
        );
        for (const current of [1, 2, 3])
          await artifact.progress('Rollout', current, 3, { key: 'rollout', label: 'regions' });
        await artifact.link('Build', 'https://ci.example/builds/812', { label: 'build 812' });
        await artifact.image('Coverage', bars, { alt: 'Coverage grew over eight weeks' });
      }}
      onFinished={() => ctx.state.set('written', true)}
    />
  ),
});

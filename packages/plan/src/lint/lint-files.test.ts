import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lintFiles, parseFile } from './lint-files.ts';

const IMPORTS = `import { Agent, Claude, definePlan, Each, Effect, End, Fragment, Human, If, Ralph, Stop, SubPlan, Task, While } from 'signalbox';`;

/** The body of a render, in lines; the first of them is line 3. */
function inRender(body: string): string {
  return `${IMPORTS}\nexport default definePlan({ name: 'x', render: ctx => {\n${body}\n} });`;
}

/** Rule, line and column of what is found. */
function found(...sources: readonly string[]): readonly string[] {
  const files = sources.map((source, index) => parseFile(`${index}.tsx`, source));
  return lintFiles(files).map(({ rule, severity, line, column }) => `${severity} ${rule} ${line}:${column}`);
}

const foundInRender = (body: string) => found(inRender(body));

describe('a tag that lacks something', () => {
  it('[P150] is a finding at its place, with the problem and the fix', () => {
    const source = inRender('return <>\n  <Task run={() => 1} />\n</>;');
    expect(lintFiles([parseFile('/plans/plan.tsx', source)])).toEqual([
      {
        rule: 'runnable-needs-id',
        severity: 'warning',
        file: '/plans/plan.tsx',
        line: 4,
        column: 3,
        message: '<Task> has no id: it is identified by its place, and becomes another node when it moves in the plan.',
        mend: 'Give it a stable id, such as id="build".',
      },
    ]);
  });

  it.each([
    ['work without an id', '<Human prompt="?" />', ['warning runnable-needs-id 3:8']],
    ['a sub-plan without an id', '<SubPlan plan={p} />', ['warning runnable-needs-id 3:8']],
    ['a loop without a maximum', '<While condition={go()}><If condition /></While>', ['warning loop-needs-max 3:8']],
    ['an agent without a maximum', '<Claude id="a" prompt="" />', ['info agent-needs-max-turns 3:8']],
    ['nothing at all', '<Agent id="a" model="m" maxTurns={1} prompt="" />', []],
    ['what may be spread into it', '<Task {...props} />', []],
    ['what is not ours', '<Custom />', []],
  ])('[P150] %s', (_, tag, expected) => {
    expect(foundInRender(`return ${tag};`)).toEqual(expected);
  });

  it('[P150] is known by its import', () => {
    const source = `import { Task as Work } from 'signalbox'; import * as S from 'signalbox'; import { Human } from './mine';
const a = () => <><Work run={f} /><S.While condition={go()} /><Human /></>;
function b(Task) { return <Task />; }`;
    expect(found(source)).toEqual(['warning runnable-needs-id 2:19', 'warning loop-needs-max 2:35']);
  });
});

describe('an item of a list without a key', () => {
  it.each([
    ['of Each', '<Each items={xs}>{x => <If condition />}</Each>', 1],
    [
      'of Each, returned',
      '<Each items={xs}>{x => { if (x) return <If condition />; return <End key={x} />; }}</Each>',
      1,
    ],
    ['of Each, on one way of a condition', '<Each items={xs}>{x => x ? <If condition key={x} /> : <End />}</Each>', 1],
    ['of map', '<>{xs.map(x => <If condition />)}</>', 1],
    ['of map behind &&', '<>{xs && xs.map(x => (<If condition />))}</>', 1],
    ['of Array.from', '<>{Array.from(xs, x => <If condition />)}</>', 1],
    ['of an array', '<>{[<End />, <Stop key="b" />]}</>', 1],
    ['that is a fragment', '<>{xs.map(x => <><End /></>)}</>', 1],
    ['that has one', '<Each items={xs}>{x => <If condition key={x} />}</Each>', 0],
    ['that is a fragment with one', '<>{xs.map(x => <Fragment key={x}><End /></Fragment>)}</>', 0],
    ['that may have one spread into it', '<>{xs.map(x => <If condition {...x} />)}</>', 0],
    ['where there is no list', '<>{flag && <End />}{make(() => <End />)}</>', 0],
    ['where a loop makes its body', '<While condition={go()} maxIterations={2}>{() => <End />}</While>', 0],
  ])('[P151] %s', (_, tree, count) => {
    const findings = foundInRender(`return ${tree};`);
    expect(findings.map(finding => finding.split(' ').slice(0, 2).join(' '))).toEqual(
      Array.from({ length: count }, () => 'error list-needs-key'),
    );
  });
});

describe('a loop without an exit', () => {
  const loop = (tag: string, body = '<Task id="a" run={f} />') =>
    `return <${tag} maxIterations={5}>${body}</${tag.split(' ')[0]}>;`;

  it.each([
    ['a condition that is true', loop('While condition')],
    ['a condition that is written as true', loop('While condition={true}')],
    ['a condition that answers true', loop('While condition={() => true}')],
    ['an until that is false', loop('Ralph until={false}')],
    ['no until and no maximum', 'return <Ralph><Task id="a" run={f} /></Ralph>;'],
    ['state that nothing writes', loop(`While condition={ctx.state.get('n') < 3 && !ctx.state.get('done')}`)],
  ])('[P152] has %s', (_, body) => {
    expect(foundInRender(body)).toContain('warning loop-needs-exit 3:8');
  });

  it.each([
    ['a condition that something decides', loop('While condition={go()}')],
    ['an until that something decides', loop('Ralph until={go}')],
    ['a maximum, and counts', 'return <Ralph maxIterations={3}><Task id="a" run={f} /></Ralph>;'],
    ['a Stop in its body', loop('While condition', '<Task id="a" run={f} /><If condition={go()}><Stop /></If>')],
    [
      'state that a handler writes',
      loop(
        `While condition={ctx.state.get('n') < 3}`,
        `<Task id="a" run={f} onFinished={() => ctx.state.set('n', 3)} />`,
      ),
    ],
    ['state that is handed on', `help(ctx.state); ${loop(`While condition={ctx.state.get('n') < 3}`)}`],
    [
      'state that is written by a name',
      `const later = <Task id="w" run={f} onFinished={() => ctx.state.set(name, 1)} />; ${loop(`While condition={ctx.state.get('n') < 3}`)}`,
    ],
  ])('[P152] is not one with %s', (_, body) => {
    expect(foundInRender(body)).toEqual([]);
  });

  it('[P152] is not one whose state another file of the plan writes', () => {
    const writer = `export const done = ctx => ctx.state.set('n', 3);`;
    const source = inRender(loop(`While condition={ctx.state.get('n') < 3}`));
    expect(found(source, writer)).toEqual([]);
    expect(found(source)).toEqual(['warning loop-needs-exit 3:8']);
  });
});

describe('the machine’s time and randomness', () => {
  it.each([
    ['in a render', `const t = Date.now(); return <End />;`, ['error time-needs-ctx 3:11']],
    ['in a prop', `return <If condition={new Date() > x}><End /></If>;`, ['error time-needs-ctx 3:23']],
    [
      'in a condition',
      `return <If condition={() => Math.random() > 0.5}><End /></If>;`,
      ['error chance-needs-ctx 3:29'],
    ],
    [
      'in what makes items',
      `return <Each items={xs}>{x => <End key={crypto.randomUUID()} />}</Each>;`,
      ['error chance-needs-ctx 3:41'],
    ],
    [
      'in a handler',
      `return <Task id="a" run={f} onFinished={() => ctx.state.set('t', performance.now())} />;`,
      ['warning time-needs-ctx 3:66'],
    ],
    ['in work', `return <Task id="a" run={() => Date.now() + Math.random()} />;`, []],
    [
      'in an effect',
      `ctx.effect('a', [], () => send(Date.now())); return <Effect id="b" run={() => Date.now()} />;`,
      [],
    ],
    ['made from a time', `return <If condition={new Date(ctx.now()) > x}><End /></If>;`, []],
    [
      'under a name of its own',
      `const Date = clock; const Math = seeded; return <If condition={Date.now() > Math.random()}><End /></If>;`,
      [],
    ],
    [
      'in a helper that a render calls',
      `const stamp = () => Date.now(); return <If condition={stamp() > 0}><End /></If>;`,
      ['error time-needs-ctx 3:21'],
    ],
    [
      'in a helper that only a handler is',
      `const end = () => ctx.state.set('t', Date.now()); return <Task id="a" run={f} onError={end} />;`,
      ['warning time-needs-ctx 3:38'],
    ],
    ['in a helper that only work is', `const work = () => Date.now(); return <Task id="a" run={work} />;`, []],
    [
      'in a helper that calls itself',
      `const again = n => n ? again(n - 1) : Date.now(); return <Task id="a" run={() => again(3)} />;`,
      [],
    ],
  ])('[P153] %s', (_, body, expected) => {
    expect(foundInRender(body)).toEqual(expected);
  });

  it('[P153] in components, helpers of the file and signals', () => {
    const source = `${IMPORTS}
function now() { return Date.now(); }
const Part = () => <If condition={now() > 1}><End /></If>;
function unused() { return Math.random(); }
export default definePlan({ name: 'x', render: () => <Part />, signals: { go: { handle(p, ctx) { ctx.state.set('t', Date.now()); } } } });
const other = { handle() { return Date.now(); } };`;
    expect(found(source)).toEqual(['error time-needs-ctx 2:25', 'warning time-needs-ctx 5:117']);
  });
});

describe('state in variables', () => {
  it.each([
    [
      'of a render, set in a handler',
      `let phase = 'a'; return <Task id="a" run={f} onFinished={() => { phase = 'b'; }} />;`,
      1,
    ],
    ['of a render, counted in work', `let n = 0; return <Task id="a" run={() => n++} />;`, 1],
    [
      'of a render, grown in a handler',
      `const all = []; return <Task id="a" run={f} onFinished={x => all.push(x)} />;`,
      1,
    ],
    [
      'of a render, written into in a handler',
      `const box = {}; return <Task id="a" run={f} onFinished={x => { box.x = x; }} />;`,
      1,
    ],
    [
      'of the handler itself',
      `return <Task id="a" run={f} onFinished={() => { let n = 0; n += 1; const all = []; all.push(n); }} />;`,
      0,
    ],
    [
      'of a render, changed in it',
      `const all = []; for (const x of xs) all.push(<End key={x} />); xs.forEach(x => all.push(x)); return <>{all}</>;`,
      0,
    ],
    ['of what work calls', `return <Task id="a" run={() => xs.map(x => { let n = 0; n++; return n; })} />;`, 0],
    ['that something else is kept in', `const queue = connect(); return <Task id="a" run={() => queue.push(1)} />;`, 0],
  ])('[P154] %s', (_, body, count) => {
    expect(foundInRender(body).map(finding => finding.split(' ', 2).join(' '))).toEqual(
      Array.from({ length: count }, () => 'warning local-state'),
    );
  });

  it('[P154] of a module, changed in a handler or in work', () => {
    const source = `let count = 0; const seen = new Set();\n${inRender(`return <Task id="a" run={() => { count += 1; }} onFinished={x => seen.add(x)} />;`)}`;
    expect(found(source)).toEqual(['warning local-state 4:34', 'warning local-state 4:66']);
  });
});

describe('a comment that says to ignore', () => {
  it.each([
    ['on the line', `return <Task run={f} />; // signalbox-ignore runnable-needs-id`],
    ['on the line before', `// signalbox-ignore runnable-needs-id: it never moves\nreturn <Task run={f} />;`],
    ['in JSX', `return <>{/* signalbox-ignore runnable-needs-id */}\n<Task run={f} /></>;`],
    ['with several rules', `// signalbox-ignore loop-needs-max, runnable-needs-id\nreturn <Task run={f} />;`],
  ])('[P155] is heard %s', (_, body) => {
    expect(foundInRender(body)).toEqual([]);
  });

  it('[P155] has no effect on another rule or another line, and is a finding if it names none', () => {
    expect(foundInRender(`// signalbox-ignore loop-needs-max\nreturn <Task run={f} />;`)).toHaveLength(1);
    expect(foundInRender(`// signalbox-ignore runnable-needs-id\n\nreturn <Task run={f} />;`)).toHaveLength(1);
    expect(foundInRender(`// signalbox-ignore everything\nreturn <Task run={f} />; // signalbox-ignore`)).toEqual([
      'warning ignore-unknown 3:1',
      'warning runnable-needs-id 4:8',
      'warning ignore-unknown 4:26',
    ]);
  });
});

describe('any file', () => {
  it('[P156] that cannot be parsed is a finding at its place', () => {
    expect(found('const a = 1;\nconst = ;')).toEqual(['error syntax 2:7']);
  });

  it('[P156] is linted without being refused: text, broken code, and deep code', () => {
    const words = fc.constantFrom(
      ...inRender(
        'return <While condition={() => Date.now()}>{xs.map(x => <Task run={() => { n++ }} />)}</While>;',
      ).split(/\b/),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(words, { maxLength: 60 }).map(parts => parts.join(' ')),
        ),
        text => {
          expect(() => found(text)).not.toThrow();
        },
      ),
      { numRuns: 300 },
    );
    for (const deep of [
      `${'('.repeat(1e5)}`,
      `${'<a>'.repeat(1e4)}`,
      `f(${'['.repeat(2e3)}${']'.repeat(2e3)})`,
      'a+'.repeat(5e4),
    ]) {
      expect(() => found(deep)).not.toThrow();
    }
  });
});

describe('what a render must not do', () => {
  it.each([
    ['a write of state', `ctx.state.set('n', 1); return null;`, ['error render-write 3:1']],
    ['a write of volatile state', `ctx.vol.update('n', n => n); return null;`, ['error render-write 3:1']],
    ['the network', `fetch('http://x'); return null;`, ['error render-io 3:1']],
    ['a timer', 'setTimeout(() => {}, 1); return null;', ['error render-io 3:1']],
    ['an own function of that name', 'const fetch = () => 1; fetch(); return null;', []],
    ['a write in a handler', `return <Task id="t" run={() => 1} onFinished={n => ctx.state.set('n', n)} />;`, []],
    ['the network in work', `return <Task id="t" run={() => fetch('http://x')} />;`, []],
    ['a first value', `ctx.state.init('n', 1); return null;`, []],
  ])('[P340] %s', (_, body, expected) => {
    expect(foundInRender(body)).toEqual(expected);
  });

  it('[P340] files, however they are imported', () => {
    const source = (how: string, call: string) =>
      `${IMPORTS}\n${how} from 'node:fs';\nexport default definePlan({ name: 'x', render: () => {\n${call}; return null;\n} });`;
    expect(found(source('import { readFileSync }', `readFileSync('x')`))).toEqual(['error render-io 4:1']);
    expect(found(source('import fs', `fs.readFileSync('x')`))).toEqual(['error render-io 4:1']);
    expect(found(source('import * as fs', `fs.readFileSync('x')`))).toEqual(['error render-io 4:1']);
  });
});

describe('a name that nothing has', () => {
  const messages = (body: string, imports = IMPORTS) =>
    lintFiles([parseFile('plan.tsx', inRender(body).replace(IMPORTS, imports))])
      .filter(({ severity }) => severity === 'error')
      .map(({ rule, line, column, message }) => `${rule} ${line}:${column} ${message}`);

  it.each([
    [
      'a prop',
      '<Task id="t" run={() => 1} onFinish={f} />',
      ['prop-unknown 3:35 <Task> has no prop onFinish. Did you mean "onFinished"?'],
    ],
    ['a prop of what is not ours', '<Custom whatever={1} />', []],
    [
      'a tool',
      `<Agent id="a" model="m" prompt="p" tools={{ allow: ['grep_files'] }} />`,
      ['tool-unknown 3:60 There is no tool "grep_files". Did you mean "grep"?'],
    ],
    ['a tool of another vendor', `<Agent id="a" plugin="codex" prompt="p" tools={{ allow: ['Bash'] }} />`, []],
    [
      'an id of two',
      '<><Task id="t" run={f} /><Task id="t" run={f} /></>',
      ['id-duplicate 3:42 The id "t" is that of the <Task> on line 3, too.'],
    ],
    ['an id in each arm of a choice', '(ctx.x ? <Task id="t" run={f} /> : <Task id="t" run={f} />)', []],
    ['an id in two functions', '<Each items={xs}>{x => <Task key={x} id="t" run={f} />}</Each>', []],
  ])('[P341] %s', (_, tag, expected) => {
    expect(messages(`return ${tag};`)).toEqual(expected);
  });

  it('[P341] an import that is used as a value, not a type', () => {
    const imports = `import { definePlan, Taks, PlanContext } from 'signalbox';`;
    const found = messages('const c: PlanContext = ctx; return <Taks id="t" />;', imports);
    expect(found).toEqual(['import-unknown 1:22 signalbox has no Taks. Did you mean "Task"?']);
  });
});

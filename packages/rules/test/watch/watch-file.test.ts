/** Tests that every mistake in the variables and watchers of a file is refused, with the line and column of the mistake and what to do. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRuleFile } from '../../src/rule-file.ts'
import { readyMadeWatchers } from '../../src/watch/ready-made.ts'

/** Returns why a file is refused; an empty text if it is not. The text may contain “▸” before the place that the problem must name. */
function check(marked: string, folder: string | null = null): { readonly problem: string; readonly place: string } {
  const offset = marked.indexOf('▸')
  const lines = marked.slice(0, Math.max(0, offset)).split('\n')
  const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}: `
  try {
    parseRuleFile(marked.replace('▸', ''), folder)
    return { problem: '', place }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), place }
  }
}

function expectProblem(marked: string, problem: string, folder: string | null = null): void {
  const found = check(marked, folder)
  expect(found.problem).toBe(`${found.place}${problem}`)
}

const inWatch = (fields: string, vars = '{"green": false, "edited": 0, "rate": 0.5, "task": ""}') =>
  `{\n  "vars": ${vars},\n  "watch": [\n    {"name": "w", ${fields}}\n  ]\n}`

describe('conditions in a file', () => {
  it.each([
    [
      '▸foo',
      'foo is not known. Use session, action, risk, result, prompt, now or vars; variables are written as vars.NAME.',
    ],
    ['([▸risk][0].touches + ["x"]).exists(p, p == "x")', 'Name a field after risk, as in risk.field.'],
    ['(true ? ▸action : action).command == ""', 'Name a field after action, as in action.field.'],
    ['[▸vars][0].green', 'Name a field after vars, as in vars.field.'],
    ['vars.green && vars.▸gren', 'vars.gren is not known. Declare it in "vars", or use green, edited, rate or task.'],
    [
      'session.▸cwd == ""',
      'session.cwd is not known. Use driver, folder, mode, branch, turn, cost, tokens, minutes, idleSeconds or agentPath.',
    ],
    ['recent("1m").exists(r, r.▸name == "")', 'name is not known. Use tool, digest, ok or secondsAgo.'],
    [
      'vars.edited > 1 && ▸vars.green == 3',
      'bool == int is not possible. Use values of the same type; int(), double() and string() convert.',
    ],
    [
      '▸vars.rate + 1 > 2.0',
      'double + int is not possible. Use values of the same type; int(), double() and string() convert.',
    ],
    ['▸vars.edited', 'The condition must be true or false, but it is int. Add a comparison.'],
    ['vars.green &&▸', 'This is not valid CEL: Unexpected token: EOF. Correct it.'],
    ['vars.green &&▸& true', 'This is not valid CEL: Unexpected character: &. Correct it.'],
    [
      'vars.task.▸matches(\\"a*\\")',
      'Regular expressions are not possible here. Use contains, startsWith or endsWith.',
    ],
    ['▸result.ok', 'result is known only at "after". Change "on", or leave result out.'],
    ["vars.green || ▸prompt.text == ''", 'prompt is known only at "prompt". Change "on", or leave prompt out.'],
    ['▸recent(vars.task).size() > 0', null],
    [
      "recent(▸'soon').size() > 0",
      'recent needs a duration in quotes, such as recent("10m"). The units are s, m, h and d.',
    ],
    ['vars.task.▸map(x, x) == []', null],
    ['▸has(vars.task)', null],
    ["▸{'a': 1} == {}", '{…} is not possible in conditions. Leave it out.'],
    ['vars[▸vars.task] == 1', 'Write the index as a number, or the name as a text in quotes.'],
    [
      'action.command.contains(▸vars.task)',
      'contains can search only for a text in quotes with at most 250 characters.',
    ],
    ['action.paths.exists(▸vars, true)', 'vars already means something else. Use another name for the item.'],
    ['action.paths.exists(▸1, true)', 'Name the item first and then the test, as in exists(item, item == "x").'],
    [
      '▸vars.task.exists(x, true)',
      'This is not a list. Use recent(…), action.paths, risk.touches, session.agentPath or a list in brackets.',
    ],
    ['[▸action.paths, action.paths] == []', 'A list cannot contain another list. Join them with +.'],
    ['[▸[1]] == []', 'A list cannot contain another list. Join them with +.'],
    [
      '▸action.paths.exists(a, action.paths.exists(b, a == b))',
      'This condition can need too much work. Make it shorter, or look at fewer items.',
    ],
  ])('the condition %s is refused at the marked place', (when, problem) => {
    const text = inWatch(`"on": "before", "when": "${when.replace(/(?<!\\)"/g, '\\"')}", "do": {"deny": "x"}`)
    if (problem === null) {
      const known = check(text)
      expect(known.problem).toMatch(/^line 4, column \d+: watch\[0\]\.when: /)
    } else expectProblem(text, `watch[0].when: ${problem}`)
  })
  it('the position of a problem is correct after JSON escapes', () => {
    expectProblem(
      inWatch('"on": "before", "when": "vars.task == \\"\\u00e4\\" &&\\n ▸foo", "do": {"deny": "x"}'),
      'watch[0].when: foo is not known. Use session, action, risk, result, prompt, now or vars; variables are written as vars.NAME.',
    )
  })
  it('a condition with a variable that the file does not declare is refused', () => {
    expectProblem(
      inWatch('"on": "before", "when": "vars.▸x", "do": {"deny": "x"}', '{}'),
      'watch[0].when: vars.x is not known, because the file declares no variables. Declare it in "vars".',
    )
  })
})

describe('texts and values in a file', () => {
  it.each([
    [
      '"on": "start", "do": {"say": "Branch \\"${session.▸git}\\""}',
      'watch[0].do.say: session.git is not known. Use driver, folder, mode, branch, turn, cost, tokens, minutes, idleSeconds or agentPath.',
    ],
    [
      '"on": "start", "do": {"say": "Branch ▸${session.branch"}',
      'watch[0].do.say: The expression that starts here with ${ has no end. Add }.',
    ],
    [
      '"on": "start", "do": {"say": "Calls ${▸recent(\'1m\')}"}',
      'watch[0].do.say: A text cannot contain a value of type list<RecentCall>. Use a text, a number, or true or false.',
    ],
    [
      '"on": "start", "do": {"set": {"gren": ▸"true"}}',
      'watch[0].do.set.gren: The variable gren is not declared. Add it to "vars".',
    ],
    [
      '"on": "start", "do": {"set": {"green": "▸1"}}',
      'watch[0].do.set.green: The variable green is of type bool, but this value is of type int. Change the value or the default.',
    ],
    [
      '"on": "start", "do": {"set": {"edited": "▸0.5"}}',
      'watch[0].do.set.edited: The variable edited is of type int, but this value is of type double. Change the value or the default.',
    ],
  ])('the watcher %s is refused at the marked place', (fields, problem) => {
    expectProblem(inWatch(fields), problem)
  })
})

describe('watchers in a file', () => {
  it.each([
    [
      '"on": "start", "do": {"deny": ▸"x"}',
      'watch[0].do.deny: A watcher at "start" cannot have "deny". Use set or say, or change "on".',
    ],
    [
      '"on": "prompt", "do": {"ask": ▸"x"}',
      'watch[0].do.ask: A watcher at "prompt" cannot have "ask". Use set, say or deny, or change "on".',
    ],
    [
      '"on": "after", "do": {"deny": ▸"x"}',
      'watch[0].do.deny: A watcher at "after" cannot have "deny". Use set or say, or change "on".',
    ],
    [
      '"on": "stop", "do": {"limit": ▸{"cost": 5}}',
      'watch[0].do.limit: A watcher at "stop" cannot have "limit". Use set, say, ask or deny, or change "on".',
    ],
    ['"on": "stop", "do": ▸{}', 'watch[0].do: The watcher has no effect. Add set, say, ask, deny or limit to "do".'],
    [
      '"on": "stop", "do": ▸{"set": {}}',
      'watch[0].do: The watcher has no effect. Add set, say, ask, deny or limit to "do".',
    ],
    [
      '"on": "stop", "do": {"deny": "x", "ask": ▸"y"}',
      'watch[0].do.ask: A watcher can ask or deny, not both. Remove one of them.',
    ],
    [
      '"on": "stop", "tool": ▸"Bash", "do": {"deny": "x"}',
      'watch[0].tool: There is no call at "stop", so "tool" would never match. Remove it, or use "before" or "after".',
    ],
    [
      '"on": "start", "action": ▸"write", "do": {"say": "x"}',
      'watch[0].action: There is no call at "start", so "action" would never match. Remove it, or use "before" or "after".',
    ],
    [
      '"on": "after", "action": ▸"question", "do": {"say": "x"}',
      'watch[0].action: Questions are known only at "before". Change "on" or "action".',
    ],
    [
      '"on": "before", "action": "question", "command": ▸"ls", "do": {"deny": "x"}',
      'watch[0].command: A question has no "command". Remove "command", or "action".',
    ],
    [
      '"on": "before", "tool": ▸"Bash|AskUserQuestion", "do": {"deny": "x"}',
      'watch[0].tool: AskUserQuestion is a question, and "tool" never matches questions. Use "action": "question" instead.',
    ],
    [
      '"on": "before", "tool": ▸"Edit|", "do": {"deny": "x"}',
      'watch[0].tool: One of the names between | is empty. Remove the extra |.',
    ],
    [
      '"on": "before", "command": "ls", "host": ▸"a.b", "do": {"deny": "x"}',
      'watch[0].host: A rule matches one thing. Use only one of command, host.',
    ],
    [
      '"on": "before", "path": ▸"src/**", "do": {"deny": "x"}',
      'watch[0].path: A relative path needs scope.cwd, the folder that it starts from.',
    ],
    [
      '"on": "before", "do": {"limit": ▸{}}',
      'watch[0].do.limit: A limit needs exactly one of cost, tokens, turns and minutes.',
    ],
    [
      '"on": "before", "do": {"limit": ▸{"cost": 5, "turns": 2}}',
      'watch[0].do.limit: A limit needs exactly one of cost, tokens, turns and minutes.',
    ],
    [
      '"on": "before", "times": ▸2, "do": {"limit": {"cost": 5}}',
      'watch[0].times: A limit asks again when the same amount is used again, so "times" has no meaning. Remove it.',
    ],
    [
      '"on": "start", "every": ▸"10m", "do": {"say": "x"}',
      'watch[0].every: A session starts once, so "every" has no meaning at "start". Remove it.',
    ],
    [
      '"on": "stop", "every": ▸"soon", "do": {"say": "x"}',
      'watch[0].every: must be a number and one of s, m, h, d, for example 10m. Correct it or remove it.',
    ],
    ['"on": "stop", ▸"wen": "true", "do": {"say": "x"}', 'watch[0].wen is not known. Correct the name or remove it.'],
    ['"on": "stop", "scope": {"cwd": "src"}, "do": {"say": "x"}', null],
  ])('the watcher %s is refused', (fields, problem) => {
    if (problem === null) expect(check(inWatch(fields)).problem).toMatch(/^line 4, column \d+: .*absolute path/)
    else expectProblem(inWatch(fields), problem)
  })
  it('a project’s watcher is refused for a folder outside the project', () => {
    const problem =
      'watch[0].scope.cwd: scope.cwd leads out of /srv/app. Name a folder of the project, or move the watcher to your own holdpoint.rules.json in the data folder.'
    expectProblem(inWatch('"on": "stop", "scope": {"cwd": ▸"../b"}, "do": {"say": "x"}'), problem, '/srv/app')
  })
  it('a project’s watcher applies to the folder of the project, or to the folder inside it that the watcher names', () => {
    const watch = (scope: object) =>
      parseRuleFile(JSON.stringify({ watch: [{ name: 'w', on: 'stop', do: { say: 'x' }, ...scope }] }), '/srv/app')
        .watchers[0]?.scope
    expect(watch({})).toEqual({ cwd: '/srv/app' })
    expect(watch({ scope: { cwd: 'web', driver: 'claude' } })).toEqual({ cwd: '/srv/app/web', driver: 'claude' })
  })
  it('two watchers cannot have the same name', () => {
    const watch = (name: string) => `{"name": ${name}, "on": "stop", "do": {"say": "x"}}`
    expectProblem(
      `{"watch": [${watch('"a"')}, ${watch('▸"a"')}]}`,
      'watch[1].name: Another watcher of this file has the name a. Choose another name.',
    )
    expectProblem(
      `{"use": ["loop-guard"], "watch": [${watch('▸"loop-guard"')}]}`,
      'watch[0].name: The ready-made watchers loop-guard already use the name loop-guard. Choose another name, or remove loop-guard from "use".',
    )
  })
  it('a file is refused if its conditions together are too much work', () => {
    const tests = Array.from({ length: 10 }, (_, index) => `action.command.contains('${index}')`).join(' || ')
    const watch = Array.from({ length: 20 }, (_, index) => ({
      name: `w${index}`,
      on: 'before',
      when: tests,
      do: { deny: 'x' },
    }))
    expect(check(JSON.stringify({ watch })).problem).toMatch(
      /^line 1, column \d+: watch\[12\]: Together, the conditions of this file can need too much work\./,
    )
    expect(check(JSON.stringify({ watch: watch.slice(0, 12) })).problem).toBe('')
  })
})

describe('variables in a file', () => {
  it.each([
    [
      '{▸"Green": true}',
      'vars.Green: the name must be a letter a to z, followed by at most 63 letters, digits or _. Correct it.',
    ],
    [
      '{"green": ▸null}',
      'vars.green: a variable is true or false, a number, a text of at most 4096 characters, or an object with "default" and perhaps "setBy" ("agent" or "watchers") and "note". Correct it or remove it.',
    ],
    [
      '{"in": ▸1}',
      'vars.in: in is a word with a meaning of its own, so it cannot name a variable. Choose another name.',
    ],
    [
      '{"toString": ▸1}',
      'vars.toString: toString is a word with a meaning of its own, so it cannot name a variable. Choose another name.',
    ],
    [
      `{"green": ▸"${'x'.repeat(4097)}"}`,
      'vars.green: Too big: expected string to have <=4096 characters. Correct it or remove it.',
    ],
    [
      `▸{${Array.from({ length: 101 }, (_, index) => `"a${index}": 1`).join(', ')}}`,
      'vars: The file declares more than 100 variables. Remove some.',
    ],
    [
      `▸{${Array.from({ length: 20 }, (_, index) => `"a${index}": "${'x'.repeat(4000)}"`).join(', ')}}`,
      'vars: The defaults of all variables are larger than 64 KiB. Make them shorter.',
    ],
  ])('the variables %s are refused', (vars, problem) => {
    expectProblem(`{"vars": ${vars}}`, problem)
  })
  it('a variable of a ready-made watcher cannot be declared again', () => {
    expectProblem(
      '{"use": ["task-first"], "vars": {"task": ▸""}}',
      'vars.task: The ready-made watchers task-first already use the name task. Choose another name, or remove task-first from "use".',
    )
  })
  it('a declaration of a variable can say who may set it and what it means', () => {
    const vars = { task: { default: '', setBy: 'agent', note: 'The issue.' }, green: false }
    expect(parseRuleFile(JSON.stringify({ vars }), null).vars).toEqual(vars)
  })
})

describe('ready-made watchers in a file', () => {
  it.each([
    [
      '▸"tests"',
      'There are no ready-made watchers with the name tests. Use tests-before-commit, no-edits-outside, task-first, reminder-at-stop, context-at-start, budget, quiet-hours, loop-guard or no-questions.',
    ],
    ['{"name": ▸"tests"}', null],
    [
      '{"name": "budget", "with": {"dollars": ▸5}}',
      'budget has no setting dollars. Use cost, tokens, turns, minutes or per.',
    ],
    [
      '{"name": "budget", "with": {"cost": ▸"5"}}',
      'The variable cost is a number, but "5" is a text. Correct the setting.',
    ],
    ['{"name": "budget", "with": {"cost": ▸0}}', 'cost must be more than 0. Correct the setting.'],
    [
      '{"name": "budget", "with": {"cost": 5, "turns": ▸3}}',
      'A budget has one amount. Use cost or turns. Correct the setting.',
    ],
    ['{"name": "budget", "with": {"per": ▸"week"}}', 'per must be session, day or folder. Correct the setting.'],
    ['{"name": "budget", "with": {"turns": ▸1.5}}', 'turns must be a whole number. Correct the setting.'],
    [
      '{"name": "quiet-hours", "with": {"from": ▸25}}',
      'from must be a whole number from 0 to 24. Correct the setting.',
    ],
    [
      '{"name": "loop-guard", "with": {"times": ▸1}}',
      'times must be a whole number of at least 2. Correct the setting.',
    ],
    [
      '{"name": "loop-guard", "with": {"within": ▸"soon"}}',
      'The time must be a number and one of s, m, h, d, for example 10m. Correct the setting.',
    ],
    ['{"name": "no-edits-outside", "with": {"x": ▸1}}', 'no-edits-outside has no settings. Remove x.'],
    ['"budget", ▸"budget"', 'budget is listed twice. Remove one, or give each its own "cwd".'],
  ])('the entry %s in `use` is refused', (entry, problem) => {
    const text = `{\n  "use": [${entry}]\n}`
    if (problem === null) expect(check(text).problem).toContain('There are no ready-made')
    else expect(check(text).problem).toMatch(problemPattern(check(text).place, problem))
  })
  it('the same ready-made watchers can be used in two folders, with different settings', () => {
    const use = ['/srv/a', '/srv/b'].map(cwd => ({ name: 'tests-before-commit', cwd, with: { tests: `make ${cwd}` } }))
    const { watchers, vars } = parseRuleFile(JSON.stringify({ use }), null)
    expect(watchers.map(({ name }) => name)).toEqual([
      'tests-before-commit-changed',
      'tests-before-commit-ran',
      'tests-before-commit',
      'tests-before-commit-changed-2',
      'tests-before-commit-ran-2',
      'tests-before-commit-2',
    ])
    expect(watchers[4]).toMatchObject({
      command: 'make /srv/b',
      scope: { cwd: '/srv/b' },
      readyMade: 'tests-before-commit',
    })
    expect(Object.keys(vars)).toEqual(['testsPassed'])
  })
})

/** The place is in the path of the entry, whose name depends on the problem. */
function problemPattern(place: string, problem: string): RegExp {
  const escaped = [place, problem].map(text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped[0]}use\\[\\d\\](\\.[a-z.]+)?: ${escaped[1]}$`)
}

describe('a file that two programs could read differently', () => {
  it('a key that occurs twice is refused with its place', () => {
    expect(check('{\n  "vars": {"a": 1,\n    "b": 2, "a": 3}\n}').problem).toMatch(/^line 3, column 15: .*a/)
  })
})

describe('the documentation of watchers', () => {
  const text = readFileSync(new URL('../../../../docs/watchers.md', import.meta.url), 'utf8')
  it('the examples in docs/watchers.md are valid files', () => {
    const examples = text
      .split('```json\n')
      .slice(1)
      .map(part => part.split('```')[0] ?? '')
    expect(examples.length).toBeGreaterThan(3)
    for (const example of examples) expect(check(example).problem).toBe('')
  })
  it('docs/watchers.md names every ready-made watcher with its settings', () => {
    for (const { name, settings } of readyMadeWatchers) {
      const row = text.split('\n').find(line => line.startsWith(`| \`${name}\` |`))
      for (const setting of settings) expect(row).toContain(`\`${setting.name}\``)
      expect(row).toBeDefined()
    }
  })
})

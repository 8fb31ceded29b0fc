/** The content of `holdpoint.rules.json`. It is read strictly: an unknown field is an error, because a rule that says less than its author meant would be worse than no rule. */
import { z } from 'zod'
import { Fault, messageOf } from './fault.ts'
import { parseJsonStrict } from './json.ts'
import { characterOffset, type JsonPath, keyOffset, lineAndColumn, valueOffset } from './json-places.ts'
import { limits } from './limits.ts'
import { RuleDraft } from './rule.ts'
import { ReadyMadeUse, VariableDeclaration, VariableName, WatcherDraft } from './watcher.ts'

const RuleFileContent = z.strictObject({
  rules: z.array(RuleDraft).max(limits.rulesPerFileMax).optional(),
  vars: z.record(VariableName, VariableDeclaration).optional(),
  watch: z.array(WatcherDraft).max(limits.watchersPerFileMax).optional(),
  use: z.array(ReadyMadeUse).max(limits.watchersPerFileMax).optional(),
})

/** What a file contains, and how problems in it are reported. */
export interface RuleFileText {
  readonly rules: readonly RuleDraft[]
  readonly vars: Readonly<Record<string, VariableDeclaration>>
  readonly watch: readonly WatcherDraft[]
  readonly use: readonly ReadyMadeUse[]
  /** Returns a Fault about the value at a path of the file. `index` is the place of the wrong character in a string. */
  problemAt(path: JsonPath, problem: string, index?: number): Fault
}

/** Reads the text of a file. Throws a Fault that says where the problem is and what to do. */
export function readRuleFileText(text: string): RuleFileText {
  const parsed = RuleFileContent.safeParse(parseText(text))
  if (!parsed.success) throw schemaFault(text, parsed.error)
  const { rules = [], vars = {}, watch = [], use = [] } = parsed.data
  return {
    rules,
    vars,
    watch,
    use,
    problemAt: (path, problem, index) => {
      const offset = index === undefined ? valueOffset(text, path) : characterOffset(text, path, index)
      return faultAt(text, offset, `${fieldName(path)}: ${problem}`)
    },
  }
}

function faultAt(text: string, offset: number, problem: string): Fault {
  return new Fault('bad_input', `${lineAndColumn(text, offset)}: ${problem}`)
}

function parseText(text: string): unknown {
  const offset = errorOffset(text)
  if (offset !== null) throw faultAt(text, offset, 'this is not valid JSON. Correct it.')
  const problem = strictProblem(text)
  if (problem !== null) throw faultAt(text, problemOffset(text, problem), problem)
  return parseJsonStrict(text)
}

function strictProblem(text: string): string | null {
  try {
    parseJsonStrict(text)
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** Returns where a problem ends that only the strict parser finds in the text, such as a key that occurs twice. Once a beginning of the text has the problem, every longer beginning has it too. */
function problemOffset(text: string, problem: string): number {
  return firstOffset(text.length, length => strictProblem(text.slice(0, length)) === problem) - 1
}

/** Returns the least number up to `most` for which the test is true. The test must be true for all greater numbers as well. */
function firstOffset(most: number, test: (offset: number) => boolean): number {
  let [no, yes] = [0, most]
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2)
    if (test(middle)) yes = middle
    else no = middle
  }
  return yes
}

/** Returns the offset of the first character that JSON cannot have there, or null if the text is JSON. Not all errors of `JSON.parse` name the offset, so a binary search finds it: once a beginning of the text is wrong, every longer beginning is wrong too. */
function errorOffset(text: string): number | null {
  return isJson(text) ? null : firstOffset(text.length + 1, length => !mayContinue(text.slice(0, length))) - 1
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns whether the text is JSON or could be the beginning of JSON. */
function mayContinue(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const message = messageOf(error)
    return ['end of JSON input', 'Unterminated', `position ${text.length}`].some(part => message.includes(part))
  }
}

function schemaFault(text: string, { issues: [issue] }: z.ZodError): Fault {
  const path = issue?.path ?? []
  const where = fieldName(path)
  if (issue?.code === 'unrecognized_keys') {
    const unknown = [...path, issue.keys[0] ?? '']
    return faultAt(text, keyOffset(text, unknown), `${fieldName(unknown)} is not known. Correct the name or remove it.`)
  }
  if (issue?.code === 'invalid_key')
    return faultAt(
      text,
      keyOffset(text, path),
      `${where}: the name ${issue.issues[0]?.message ?? 'is wrong'}. Correct it.`,
    )
  const at = valueOffset(text, path)
  if (issue?.code === 'too_big' && path.length === 1)
    return faultAt(text, at, `${where} has more than ${issue.maximum} entries. Remove some.`)
  const expected = issue?.code === 'invalid_union' ? unions[String(path[0])] : undefined
  return faultAt(
    text,
    at,
    `${where || 'the file'}: ${expected ?? issue?.message ?? 'not valid'}. Correct it or remove it.`,
  )
}

/** The keys whose values can have one of several forms, and what the values can be. */
const unions: Readonly<Record<string, string>> = {
  vars: `a variable is true or false, a number, a text of at most ${limits.variableTextMax} characters, or an object with "default" and perhaps "setBy" ("agent" or "watchers") and "note"`,
  use: 'write the name of ready-made watchers, or an object with "name" and perhaps "cwd" and "with"',
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('')
}

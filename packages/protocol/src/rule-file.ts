/** The content of `holdpoint.rules.json`. It is read strictly: an unknown field is an error, because a rule that says less than its author meant would be worse than no rule. */
import { z } from 'zod'
import { Fault, messageOf } from './fault.ts'
import { parseJsonStrict } from './json.ts'
import { limits } from './limits.ts'
import { RuleDraft } from './rule.ts'

const RuleFileContent = z.strictObject({ rules: z.array(RuleDraft).max(limits.rulesPerFileMax).optional() })

/** Returns the rules in the text of a file. Throws a Fault that says where the problem is and what to do. */
export function parseRuleDrafts(text: string): readonly RuleDraft[] {
  const parsed = RuleFileContent.safeParse(parseText(text))
  if (!parsed.success) throw schemaFault(parsed.error)
  return parsed.data.rules ?? []
}

function parseText(text: string): unknown {
  const offset = errorOffset(text)
  if (offset !== null) {
    const lines = text.slice(0, offset).split('\n')
    const column = (lines.at(-1) ?? '').length + 1
    throw new Fault('bad_input', `line ${lines.length}, column ${column}: this is not valid JSON. Correct it.`)
  }
  try {
    return parseJsonStrict(text)
  } catch (error) {
    throw new Fault('bad_input', messageOf(error))
  }
}

/** Returns the offset of the first character that JSON cannot have there, or null if the text is JSON. Not all errors of `JSON.parse` name it, so it is found by halving: every longer beginning of the text is wrong, too. */
function errorOffset(text: string): number | null {
  if (isJson(text)) return null
  let [good, bad] = [0, text.length + 1]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (mayContinue(text.slice(0, middle))) good = middle
    else bad = middle
  }
  return good
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns whether the text is JSON or the beginning of it. */
function mayContinue(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const message = messageOf(error)
    return ['end of JSON input', 'Unterminated', `position ${text.length}`].some(part => message.includes(part))
  }
}

function schemaFault({ issues: [issue] }: z.ZodError): Fault {
  const where = fieldName(issue?.path ?? [])
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    const field = where === '' ? key : `${where}.${key}`
    return new Fault('bad_input', `${field} is not known. Correct the name or remove it.`)
  }
  if (issue?.code === 'too_big' && where === 'rules')
    return new Fault('bad_input', `rules has more than ${limits.rulesPerFileMax} entries. Remove some.`)
  return new Fault('bad_input', `${where || 'the file'}: ${issue?.message ?? 'not valid'}. Correct it or remove it.`)
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('')
}

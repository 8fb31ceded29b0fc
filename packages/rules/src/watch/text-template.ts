/** Texts of watchers that contain expressions, such as “The branch is ${session.branch}.” */
import { limits, type WatchMoment } from '@holdpoint/protocol'
import type { WatchFacts } from './condition-names.ts'
import { ConditionProblem } from './condition-work.ts'
import type { Conditions, Expression } from './conditions.ts'
import { watchTexts } from './texts.ts'

export interface TextTemplate {
  readonly expressions: readonly Expression[]
  /** Throws if an expression cannot be evaluated. */
  fill(facts: WatchFacts): string
}

const textTypes: ReadonlySet<string> = new Set(['string', 'int', 'double', 'bool', 'list<string>'])

/** Throws a ConditionProblem if an expression cannot be used. Its place counts from the start of the text. */
export function compileTemplate(text: string, conditions: Conditions, moment: WatchMoment): TextTemplate {
  const parts: (string | Expression)[] = []
  let at = 0
  for (let start = text.indexOf('${'); start >= 0; start = text.indexOf('${', at)) {
    parts.push(text.slice(at, start))
    const end = endOfExpression(text, start + 2)
    if (end === null) throw new ConditionProblem(watchTexts.unclosedExpression, start)
    parts.push(compilePart(text.slice(start + 2, end), start + 2, conditions, moment))
    at = end + 1
  }
  parts.push(text.slice(at))
  return {
    expressions: parts.filter(part => typeof part !== 'string'),
    fill: facts => cut(parts.map(part => (typeof part === 'string' ? part : valueText(part.evaluate(facts)))).join('')),
  }
}

function compilePart(text: string, start: number, conditions: Conditions, moment: WatchMoment): Expression {
  try {
    const expression = conditions.compile(text, moment)
    if (textTypes.has(expression.type)) return expression
    throw new ConditionProblem(watchTexts.wrongTextType(expression.type), 0)
  } catch (error) {
    if (error instanceof ConditionProblem) throw new ConditionProblem(error.message, start + error.index)
    throw error
  }
}

/** Returns the offset of the brace that ends an expression, or null. Braces inside quotes do not count. */
function endOfExpression(text: string, start: number): number | null {
  let quote = ''
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? ''
    if (quote !== '') {
      if (character === '\\') at++
      else if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (character === '}') return at
  }
  return null
}

function valueText(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 10_000) / 10_000)
  return Array.isArray(value) ? value.join(', ') : String(value)
}

function cut(text: string): string {
  return text.length <= limits.reasonMax ? text : `${text.slice(0, limits.reasonMax - 1).toWellFormed()}…`
}

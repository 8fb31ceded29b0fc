/** Turns what a person says with an answer into the one text that the agent reads: the reason or the note, and the comments on lines. Every driver and the API use this text, so all agents read the same. */
import type { Answer, Comment } from './answer.ts'
import type { Ask } from './ask.ts'
import { escapeInvisible } from './escape-invisible.ts'

/** Returns the answer with the agent's text as its reason or note, and without comments. */
export function answerForAgent(ask: Ask, answer: Answer): Answer {
  const text = textForAgent(ask, answer)
  if (text === null) return answer
  if (answer.kind === 'allow') {
    const { comments: _, ...rest } = answer
    return { ...rest, note: text }
  }
  if (answer.kind === 'decline') return { ...answer, reason: text }
  if (answer.kind !== 'deny') return answer
  const { comments: _, ...rest } = answer
  return { ...rest, reason: text }
}

/** Returns the text for the agent if it differs from the reason or the note: the person commented on lines or asked back. Otherwise returns null. */
export function textForAgent(ask: Ask, answer: Answer): string | null {
  if (answer.kind !== 'allow' && answer.kind !== 'deny' && answer.kind !== 'decline') return null
  const comments = answer.kind === 'decline' ? [] : (answer.comments ?? [])
  const asksBack = answer.kind !== 'allow' && answer.askBack === true
  if (comments.length === 0 && !asksBack) return null
  const words = (answer.kind === 'allow' ? answer.note : answer.reason)?.trim() ?? ''
  const opening = asksBack ? [beforeQuestion, words, afterQuestion] : [words]
  const review = comments.length === 0 ? [] : [commentsHeading, ...comments.map(comment => commentText(ask, comment))]
  return [...opening, ...review].filter(part => part !== '').join('\n\n')
}

const beforeQuestion = 'The person has not decided yet, and asks you this first:'
const afterQuestion = 'Answer the question in text. Then ask again if you still need it.'
const commentsHeading = 'The person commented on these lines:'

/** Returns the place, the quoted line and the comment. The path is in one line, and every line of the quotation has a mark, so that neither can be taken for the person's words. */
function commentText(ask: Ask, comment: Comment): string {
  const path = comment.path === undefined ? {} : { path: escapeInvisible(comment.path) }
  const quote = comment.quote.split(/\r\n|[\n\r\u2028\u2029]/).map(line => `> ${line}`.trimEnd())
  return [`${commentPlace(ask, { ...comment, ...path })}:`, ...quote, comment.text.trim()].join('\n')
}

/** Returns where a comment belongs, such as `src/a.ts, line 3 of the new text` or `Line 2 of the plan`. The path is the agent's text. */
export function commentPlace(ask: Ask, { path, edit, line, side }: Omit<Comment, 'quote' | 'text'>): string {
  const whole = path === undefined && ask.kind === 'approval' ? partOf(ask) : null
  const text = side === 'before' ? 'the old text' : side === 'after' ? 'the new text' : whole
  const position = [line === undefined ? null : `line ${line}`, text].filter(part => part !== null).join(' of ')
  const parts = [path, edit === undefined ? undefined : `edit ${edit}`, position === '' ? undefined : position]
  const place = parts.filter(part => part !== undefined).join(', ')
  return path === undefined ? `${place.charAt(0).toUpperCase()}${place.slice(1)}` : place
}

function partOf({ plan, input }: Extract<Ask, { kind: 'approval' }>): string | null {
  if (plan !== undefined) return 'the plan'
  return typeof input.command === 'string' ? 'the command' : null
}

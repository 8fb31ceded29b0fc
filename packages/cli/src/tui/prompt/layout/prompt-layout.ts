/** Lays out a prompt for a given screen size: the head, as much of the body as fits, and the footer. */
import { actionLabel, agentDisconnectedLabels } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { type Row, row, type Span, trusted, untrusted } from '../../../output/span.ts'
import { cut, cutSpans, type StyledLine, widthOf, wrap } from '../../../output/width.ts'
import { isTextField } from '../key-policy.ts'
import { type BodyView, markShown, type Prompt } from '../prompt.ts'
import { promptTexts as texts } from '../texts.ts'
import { approvalSections } from './approval-sections.ts'
import { formSections } from './form-sections.ts'
import { emptyFooter, type KeyHint, layoutFooter, type PromptFooter, type PromptSections } from './prompt-sections.ts'
import { questionsSections } from './questions-sections.ts'

export interface ScreenSize {
  readonly columns: number
  readonly height: number
}
/** The position of the request among the pending requests, shown as "request 1 of 3". */
export interface PromptPosition {
  readonly at: number
  readonly of: number
}
export interface PromptContext extends PromptPosition {
  /** The other people who are answering this request. */
  readonly others?: readonly string[]
  readonly isAgentDisconnected?: boolean
  readonly status?: PromptStatus
  /** The description of the action that the held letter is about to run. Set with the status `held`. */
  readonly held?: string
  /** Keys that the view handles itself, shown after the keys of the prompt. */
  readonly viewKeys?: readonly KeyHint[]
}
export interface PromptLayout {
  readonly lines: readonly StyledLine[]
  readonly view: BodyView
}

/** On a screen smaller than this, a request is not shown and cannot be answered. */
const minSize: ScreenSize = { columns: 20, height: 4 }
/** On a screen of at least this height, the head may take two lines. */
const twoLineHeadFrom = 10
/** The columns of the head that are reserved for the position, so that a long action label cannot push the position off the screen. */
const positionColumns = 24

/**
 * - `cooldown`: the prompt has just appeared or changed, and keys are ignored.
 * - `typing`: the person is typing something else, and keys answer nothing until the person pauses.
 * - `held`: a letter was pressed, and is carried out unless another key follows.
 * - `preview`: the request is selected in the list, and keys go to the list.
 */
export type PromptStatus = 'cooldown' | 'typing' | 'held' | 'live' | 'sending' | 'disconnected' | 'preview'

/** Never returns more lines than fit on the screen, because `markShown` counts every returned body line as seen by the person. */
export function layoutPrompt(
  prompt: Prompt,
  size: ScreenSize,
  { status = 'live', held = '', viewKeys = [], ...context }: PromptContext,
): PromptLayout {
  const { columns } = size
  if (columns < minSize.columns || size.height < minSize.height) return tooSmall(size)
  const sections = sectionsOf(prompt)
  const head = wrapOnce(headRow(prompt, context, columns), columns).slice(0, size.height < twoLineHeadFrom ? 1 : 2)
  const linesLeft = size.height - head.length - 1
  const message = status === 'typing' ? texts.typing : held
  const body = sections.body.map(one => wrapOnce(one, columns))
  const lineCount = countLines(body)
  const space = { columns, lines: linesLeft, bodyLines: lineCount, message }
  // In a text field, `?` is text.
  const keysOfView = isTextField(prompt) ? viewKeys.filter(([key]) => key !== '?') : viewKeys
  const layoutFooterOf = (one: PromptSections) => layoutFooter(footerFor(one, status, keysOfView), prompt.hint, space)
  const footer = layoutFooterOf(sections)
  if (!footer) return tooSmall(size)
  const height = Math.min(lineCount, linesLeft - footer.length)
  const focus = sections.focus === null ? null : linesOfRow(body, sections.focus)
  const top = topOf(prompt, { columns, lines: lineCount, height, focus })
  const chosen = focus && sections.chosen !== undefined ? { chosen: { index: sections.chosen, ...focus } } : {}
  const view = { columns, lines: lineCount, height, top, ...chosen }
  const drawn = markShown(prompt, view)
  const visibleBody = body.flat().slice(view.top, view.top + height)
  const pager = height < lineCount ? [pagerLine(view, drawn, status)] : [[]]
  // Showing the last line of the body can change the footer. A new footer that does not fit below the body appears with the next drawing.
  const nextFooter = drawn.isFullyShown === prompt.isFullyShown ? footer : layoutFooterOf(sectionsOf(drawn))
  const keys = nextFooter && nextFooter.length <= linesLeft - height ? nextFooter : footer
  // During the cooldown the footer is blank but has its full height, so that nothing moves when the key hints appear.
  const visibleFooter = status === 'cooldown' ? keys.map((): StyledLine => []) : keys
  return { lines: [...head, ...visibleBody, ...pager, ...visibleFooter], view }
}

function tooSmall({ columns, height }: ScreenSize): PromptLayout {
  const lines = height < 1 ? [] : [cutSpans([trusted(texts.tooSmall, 'waiting')], columns)]
  return { lines, view: { columns, lines: Number.POSITIVE_INFINITY, height: 0, top: 0 } }
}

const wrapCache = new WeakMap<Row, { readonly columns: number; readonly lines: readonly StyledLine[] }>()

function wrapOnce(one: Row, columns: number): readonly StyledLine[] {
  const cached = wrapCache.get(one)
  if (cached?.columns === columns) return cached.lines
  const lines = wrap(one, columns)
  wrapCache.set(one, { columns, lines })
  return lines
}
function countLines(body: readonly (readonly StyledLine[])[]): number {
  return body.reduce((sum, lines) => sum + lines.length, 0)
}
/** Returns the range of lines that a body row takes up after wrapping. */
function linesOfRow(
  body: readonly (readonly StyledLine[])[],
  index: number,
): { readonly from: number; readonly to: number } {
  const from = countLines(body.slice(0, index))
  return { from, to: from + (body[index]?.length ?? 0) }
}

function footerFor(sections: PromptSections, status: PromptStatus, viewKeys: readonly KeyHint[]): PromptFooter {
  const message = (text: string, style: 'quiet' | 'waiting'): PromptFooter => ({
    ...emptyFooter,
    decision: [row(trusted(text, style))],
  })
  if (status === 'sending') return message(texts.sending, 'quiet')
  if (status === 'disconnected') return message(texts.disconnected, 'waiting')
  if (status === 'preview') return message(texts.preview, 'quiet')
  return { ...sections, viewKeys }
}

function sectionsOf(prompt: Prompt): PromptSections {
  const { state, request } = prompt
  const { ask } = request
  if (state.kind === 'approval' && ask.kind === 'approval') return approvalSections(prompt, ask, state)
  if (state.kind === 'questions' && ask.kind === 'questions') return questionsSections(ask, state, prompt.offered)
  if (state.kind === 'form' && ask.kind === 'form') return formSections(ask, state, prompt.offered.stop.decline)
  return { body: [], focus: null, ...emptyFooter }
}

function topOf(
  { top, followsCursor, isFullyShown, shownRange }: Prompt,
  {
    columns,
    lines,
    height,
    focus,
  }: Omit<BodyView, 'top'> & { readonly focus: { readonly from: number; readonly to: number } | null },
): number {
  const last = Math.max(0, lines - height)
  if (followsCursor && focus)
    // Scroll until the whole focused row is visible, or only its beginning if the row is taller than the visible body.
    return Math.min(last, focus.from, Math.max(Math.min(top, focus.from), focus.to - height))
  // After a change of width, a request that was not fully shown starts again at its first line.
  const startsOver = !isFullyShown && shownRange.columns > 0 && shownRange.columns !== columns
  return startsOver ? 0 : Math.min(top, last)
}

/** Builds the head. The names of agents come last and take at most half of the width, so that they cannot displace Holdpoint's own labels. */
function headRow(
  { request }: Prompt,
  { at, of, others = [], isAgentDisconnected = false }: PromptContext,
  columns: number,
): Row {
  const path = request.agentPath.flatMap(name => [trusted(' › ', 'quiet'), untrusted(name, 'quiet')])
  return row(
    trusted('● ', 'waiting'),
    trusted(cut(actionLabel(request.ask), Math.max(positionColumns, columns - positionColumns)), 'strong'),
    ...(of > 1 ? [trusted(`  request ${at} of ${of}`, 'waiting')] : []),
    ...othersSpans(others),
    ...(isAgentDisconnected ? [trusted(`  ${agentDisconnectedLabels.short}`, 'waiting')] : []),
    ...deadlineSpans(request),
    ...cutSpans(path, Math.floor(columns / 2)),
  )
}

const nameMax = 20
function othersSpans([first, ...more]: readonly string[]): readonly Span[] {
  if (first === undefined) return []
  if (more.length > 0) return [trusted(`  ${more.length + 1} others are answering`, 'strong')]
  return [trusted('  '), ...cutSpans([untrusted(first, 'strong')], nameMax), trusted(' is answering', 'strong')]
}

function deadlineSpans({ deadlineAt, onDeadline, overdue }: Request): readonly Span[] {
  if (deadlineAt === null) return []
  if (overdue) return [trusted('  overdue', 'waiting')]
  const time = new Date(deadlineAt).toTimeString().slice(0, 5)
  return [trusted(onDeadline === 'deny' ? `  expires ${time} if nobody answers` : `  due ${time}`, 'quiet')]
}

/** Says which lines are visible, and how to see the others. On a narrow screen it says less, so that nothing of it is cut. */
function pagerLine(
  { columns, top, height, lines }: BodyView,
  { isFullyShown, shownRange }: Prompt,
  status: PromptStatus,
): StyledLine {
  const range = `${top + 1}–${top + height} of ${lines}`
  const isAfterGap = !isFullyShown && top > shownRange.to
  const hint =
    status === 'preview'
      ? texts.previewPages
      : isAfterGap
        ? texts.unread(shownRange.to + 1, top)
        : isFullyShown
          ? texts.pages
          : texts.morePages
  const short = isAfterGap ? [hint, texts.shortUnread(shownRange.to + 1, top)] : [`${range} · ${texts.shortPages}`]
  const choices = [`── lines ${range} · ${hint} ──`, `${range} · ${hint}`, ...short]
  const fitting = choices.find(text => widthOf(text) <= columns) ?? range
  return cutSpans([trusted(fitting, 'quiet')], columns)
}

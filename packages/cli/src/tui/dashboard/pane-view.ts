/** Draws the pane of `holdpoint tui`: the help, the start dialog, a preview of the selected item, or the open session with its prompt. */
import type { InboxSnapshot } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { sessionRows } from '../../output/session.ts'
import { blankRow, type Row, row, trusted, untrustedLine } from '../../output/span.ts'
import { cutSpans, type StyledLine, wrap } from '../../output/width.ts'
import { layoutPrompt } from '../prompt/layout/prompt-layout.ts'
import { openPrompt } from '../prompt/prompt.ts'
import type { TextInput } from '../prompt/text-input.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { EntryContext } from '../transcript/entry-rows.ts'
import type { TranscriptPane } from '../transcript/transcript-pane.ts'
import type { DashboardModel } from './dashboard-model.ts'
import { sessionHeaderLines, sessionSummary } from './session-list.ts'
import { startDialogRows } from './start-dialog.ts'
import { dashboardTexts as texts } from './texts.ts'

export interface Pane {
  readonly lines: readonly StyledLine[]
  readonly spinner: string | null
}

/** In a pane of at least this height, the session's header is shown above the prompt. */
const headerMinHeight = 14

/** Builds the pane. The caller draws at most the first `height` lines. */
export function paneOf(model: DashboardModel, columns: number, height: number): Pane {
  const { page, startDialog, transcript, options } = model
  if (page) return { lines: page.lines(columns, height), spinner: null }
  if (startDialog) {
    const rows = startDialogRows(startDialog, options.folder, columns)
    return { lines: wrapAll(rows, columns).slice(-height), spinner: null }
  }
  if (!transcript) return { lines: previewLines(model, columns, height), spinner: null }
  return sessionPane(model, transcript, columns, height)
}

function wrapAll(rows: readonly Row[], columns: number): readonly StyledLine[] {
  return rows.flatMap(one => wrap(one, columns))
}

function previewLines(
  { list: { selectedItem: item }, inbox, options }: DashboardModel,
  columns: number,
  height: number,
): readonly StyledLine[] {
  if (item?.kind !== 'request')
    return wrapAll(previewRows(item?.session ?? null, inbox, options.now()), columns).slice(0, height)
  const header = item.session ? [cutSpans(sessionSummary(item.session), columns), []] : []
  const size = { columns, height: height - header.length }
  const { lines } = layoutPrompt(openPrompt(item.request, [], item.session?.capabilities), size, {
    at: 1,
    of: 1,
    status: 'preview',
  })
  return [...header, ...lines]
}

function previewRows(session: Session | null, { complete, status }: InboxSnapshot, now: number): readonly Row[] {
  if (session) return [...sessionRows(session, now), blankRow, row(trusted(texts.openHint, 'quiet'))]
  if (status === 'connecting' || !complete) return [row(trusted(texts.loading, 'quiet'))]
  return [row(trusted(texts.empty)), blankRow, row(trusted(texts.startHint, 'quiet'))]
}

/** Builds the pane of an open session. The prompt follows the transcript, and a short transcript leaves the space below the prompt free, so that the prompt is where its preview was. Without a prompt, the message line is at the bottom, and the last line is free for the spinner. */
function sessionPane(model: DashboardModel, transcript: TranscriptPane, columns: number, height: number): Pane {
  const { session, controller, options } = model
  const { prompt } = controller
  const header = session && !(prompt && height < headerMinHeight) ? [...sessionHeaderLines(session, columns), []] : []
  const context: EntryContext = {
    me: options.me,
    columns,
    isAnsweredHere: ({ id }) => controller.isAnsweredHere(id),
  }
  const below = prompt
    ? promptLines(model, columns, height - header.length)
    : [...messageLines(model, transcript, columns), []]
  const linesLeft = Math.max(0, height - header.length - below.length)
  const entries = transcript.visibleLines(context, prompt ? Math.max(0, linesLeft - 1) : linesLeft)
  const padding: StyledLine[] = Array.from({ length: Math.max(0, linesLeft - entries.length) }, () => [])
  if (prompt) {
    const gap = entries.length > 0 ? 1 : 0
    const lines = [...header, ...entries, ...padding.slice(0, gap), ...below, ...padding.slice(gap)]
    return { lines: lines.slice(0, height), spinner: null }
  }
  const isBusy = session?.state === 'working' || session?.state === 'starting'
  return {
    lines: [...header, ...padding, ...entries, ...below].slice(-height),
    spinner: isBusy ? session.state : null,
  }
}

function promptLines(model: DashboardModel, columns: number, height: number): readonly StyledLine[] {
  const { controller } = model
  const request = controller.prompt?.request
  if (!request) return []
  const pending = model.pendingIn(request.session)
  const at = Math.max(1, pending.findIndex(({ id }) => id === request.id) + 1)
  return controller.layout({ columns, height }, { at, of: Math.max(1, pending.length) })
}

function messageLines(
  { session, composer, isComposing }: DashboardModel,
  { linesBelow }: TranscriptPane,
  columns: number,
): readonly StyledLine[] {
  const mustSendFirst = isComposing && (session?.pending ?? 0) > 0
  return wrapAll(
    [
      ...(linesBelow > 0 ? [row(trusted(texts.linesBelow(linesBelow), 'quiet'))] : []),
      ...(mustSendFirst ? [blankRow, row(trusted(texts.sendFirst, 'strong'))] : []),
      ...(composer ? messageRows(composer.line, isComposing, columns) : []),
    ],
    columns,
  )
}

/** Returns the message line while the person types in it; otherwise the unsent message, if there is one. */
function messageRows(line: TextInput, isComposing: boolean, columns: number): readonly Row[] {
  if (isComposing) return [blankRow, ...textInputRows({ label: texts.messageLabel, line }, columns)]
  return line.text === ''
    ? []
    : [row(...cutSpans([trusted(texts.unsentMessage, 'quiet'), untrustedLine(line.text)], columns))]
}

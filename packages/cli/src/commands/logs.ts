/** `holdpoint logs`: prints the transcript of a session, and with `--follow` what happens next. */
import { type Entry, Inbox, Transcript, watchEvents } from '@holdpoint/client'
import { type Call, type Event, Fault, limits, type Output, type SessionId } from '@holdpoint/protocol'
import { type GatewayAddress, requireGateway } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { blankRow, type Row } from '../output/span.ts'
import { abortOnSignal } from '../signals.ts'
import { outputRows } from '../tui/pages/tool-output-page.ts'
import { PendingAnnouncer } from '../tui/run/run-in-pipe.ts'
import { type EntryContext, entryRows, shownEntries } from '../tui/transcript/entry-rows.ts'
import { needsBlankLine, TranscriptPrinter } from '../tui/transcript/transcript-printer.ts'
import { findSession } from './ids.ts'
import { inputTexts, listTexts } from './texts.ts'
import { loadEntries } from './transcript-entries.ts'

export interface LogsOptions extends GatewayAddress {
  readonly follow?: boolean
  readonly limit?: string
  /** Whether to print the output of tools too. */
  readonly output?: boolean
  readonly json?: boolean
}

export async function logs(typedId: string, { follow, limit, output, json, ...address }: LogsOptions): Promise<void> {
  const count = limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
  if (limit !== undefined && (!Number.isInteger(count) || count < 1)) throw new Fault('bad_input', inputTexts.badCount)
  const { call, connection } = requireGateway(address, { attempts: 1 })
  const session = await findSession(call, typedId)
  const signal = abortOnSignal('SIGINT', 'SIGTERM')
  if (json) {
    const last = await printEvents(call, session.id, count)
    if (!follow) return
    const after = last === null ? {} : { after: last }
    for await (const frame of watchEvents(connection, { signal, session: session.id, ...after }))
      if (frame.frame === 'event') out.json(frame.event)
    return
  }
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options), session: session.id })
  const transcript = new Transcript(inbox.transcriptOptions(session.id))
  try {
    const { id: me } = await call('whoAmI', {})
    const context = { me, columns: out.columns ?? Number.POSITIVE_INFINITY, isAnsweredHere: () => false }
    await loadEntries(transcript, count)
    const entries = shownEntries(transcript.getSnapshot().entries).slice(-count)
    if (!follow) out.print(...transcriptRows(entries, context, output === true))
    else await followTranscript(inbox, transcript, { first: entries[0]?.id, context, signal })
  } finally {
    transcript.close()
    inbox.close()
  }
}

/** Prints the last events as JSON, one per line, and returns the cursor of the newest one. */
async function printEvents(call: Call, id: SessionId, count: number): Promise<string | null> {
  const pages: (readonly Event[])[] = []
  let last: string | null = null
  let left = count
  for (let before: string | null = 'end'; before !== null && left > 0; ) {
    const page: Output<'listEvents'> = await call('listEvents', { id, before, limit: Math.min(left, limits.pageMax) })
    last ??= page.items.at(-1)?.cursor ?? null
    pages.unshift(page.items)
    left -= page.items.length
    before = page.next
  }
  for (const event of pages.flat()) out.json(event)
  return last
}

function transcriptRows(entries: readonly Entry[], context: EntryContext, withOutput: boolean): readonly Row[] {
  let last: Entry | null = null
  return entries.flatMap(entry => {
    const rows = [...entryRows(entry, context)]
    if (rows.length === 0) return []
    if (withOutput && entry.kind === 'tool' && entry.output !== undefined) rows.push(...outputRows(entry.output))
    if (needsBlankLine(entry, last)) rows.unshift(blankRow)
    last = entry
    return rows
  })
}

interface FollowOptions {
  /** The id of the first entry to print. */
  readonly first: string | undefined
  readonly context: EntryContext
  readonly signal: AbortSignal
}
/** Prints each entry when it becomes final, until the person stops the command. Pending requests are announced, because they become final only when they are answered. */
function followTranscript(
  inbox: Inbox,
  transcript: Transcript,
  { first, context, signal }: FollowOptions,
): Promise<void> {
  const printer = new TranscriptPrinter()
  const announcer = new PendingAnnouncer(listTexts.answerHere)
  return new Promise((resolve, reject) => {
    const print = () => {
      const { entries } = transcript.getSnapshot()
      const from = Math.max(
        0,
        entries.findIndex(({ id }) => id === first),
      )
      out.print(...printer.newRows(entries.slice(from), context))
      const snapshot = inbox.getSnapshot()
      announcer.announce(snapshot)
      if (snapshot.ended) reject(snapshot.ended)
    }
    signal.addEventListener('abort', () => resolve())
    inbox.subscribe(print)
    transcript.subscribe(print)
    print()
  })
}

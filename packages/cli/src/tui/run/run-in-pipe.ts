/** `holdpoint run` without a terminal: prints plain lines and reads no keys. Requests stay pending until they are answered elsewhere. */
import { actionLabel, type Entry, Inbox, type InboxSnapshot, Transcript, watchEvents } from '@holdpoint/client'
import type { CommandId, RequestId, Session } from '@holdpoint/protocol'
import type { GatewayAccess } from '../../gateway-client/gateway-access.ts'
import { out } from '../../output/output.ts'
import { riskWordSpan } from '../../output/request.ts'
import { indented, row, trusted } from '../../output/span.ts'
import { TranscriptPrinter } from '../transcript/transcript-printer.ts'
import { runTexts as texts } from './texts.ts'

/** Prints the transcript until the current turn ends or, if a message was sent, until the turn started by that message ends. Resolves with the exit code. */
export async function runInPipe(
  { call, connection }: GatewayAccess,
  session: Session,
  messageId: CommandId | null,
): Promise<number> {
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options), session: session.id })
  const transcript = new Transcript(inbox.transcriptOptions(session.id))
  const printer = new TranscriptPrinter()
  const announcer = new PendingAnnouncer(texts.notInteractive)
  const { id: me } = await call('whoAmI', {})
  const context = { me, columns: Number.POSITIVE_INFINITY, isAnsweredHere: () => false }
  const printNew = (): number | null => {
    const { entries, loaded } = transcript.getSnapshot()
    if (!loaded) return null
    const snapshot = inbox.getSnapshot()
    out.print(...printer.newRows(entries, context))
    announcer.announce(snapshot)
    if (snapshot.ended) throw snapshot.ended
    const from = messageId === null ? 0 : entries.findIndex(({ id }) => id === messageId)
    const turns = from < 0 ? [] : entries.slice(from).filter(entry => entry.kind === 'turn')
    if (messageId !== null && turns.length === 0) return hasFailed(entries[from]) ? 1 : null
    return exitCodeOf(snapshot.sessions.get(session.id), turns.at(-1)?.ending ?? null)
  }
  try {
    return await new Promise<number>((resolve, reject) => {
      const check = () => {
        try {
          const code = printNew()
          if (code !== null) resolve(code)
        } catch (error) {
          reject(error)
        }
      }
      inbox.subscribe(check)
      transcript.subscribe(check)
      // All updates may have arrived before this function subscribed, so check once now.
      check()
    })
  } finally {
    transcript.close()
    inbox.close()
  }
}

/** Prints a line for each pending request, once. */
export class PendingAnnouncer {
  readonly #announced = new Set<RequestId>()
  readonly #hint: string

  /** `hint` says how to answer. */
  constructor(hint: string) {
    this.#hint = hint
  }

  announce({ order, requests }: InboxSnapshot): void {
    for (const id of order) {
      const request = requests.get(id)
      if (!request || this.#announced.has(id)) continue
      this.#announced.add(id)
      out.print(
        row(
          trusted('● ', 'waiting'),
          ...(request.risk ? [riskWordSpan(request.risk), trusted('  ')] : []),
          trusted(actionLabel(request.ask), 'strong'),
          trusted(`  pending: holdpoint show ${id}`),
        ),
        indented(trusted(this.#hint, 'quiet')),
      )
    }
  }
}

function hasFailed(entry: Entry | undefined): boolean {
  return entry?.kind === 'message' && entry.state === 'failed'
}

/** Returns the exit code once the session has ended, or rests after a turn and has no pending request; otherwise null. */
function exitCodeOf(session: Session | undefined, turn: string | null): number | null {
  if (session?.state === 'ended') return session.ending?.reason === 'failed' ? 1 : 0
  const isResting = session?.state === 'idle' || session?.state === 'parked'
  return isResting && session.pending === 0 && turn !== null ? Number(turn === 'failed') : null
}

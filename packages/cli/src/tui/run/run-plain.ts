/** One session in a pipe: lines as they come, no keys, no colours. What is asked waits for an answer from elsewhere. */
import { actionLabel, type Entry, Inbox, type InboxSnapshot, watchEvents } from '@holdpoint/client'
import type { CommandId, RequestId, Session } from '@holdpoint/protocol'
import type { GatewayAccess } from '../../gateway-client/gateway-access.ts'
import { out } from '../../output/output.ts'
import { indented, row, trusted } from '../../output/span.ts'
import { TranscriptPrinter } from '../transcript/transcript-printer.ts'

/** To the end of the turn; where something was said to it, of the turn that came of that. */
export async function runPlainly(
  { call, connection }: GatewayAccess,
  session: Session,
  said: CommandId | null,
): Promise<number> {
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options), session: session.id })
  const transcript = inbox.transcript(session.id)
  const scroll = new TranscriptPrinter()
  const told = new Set<RequestId>()
  const { person: me } = await call('whoAmI', {})
  const reader = { me, columns: Number.POSITIVE_INFINITY, isOurs: () => false }
  const look = (): number | null => {
    const { entries, loaded } = transcript.getSnapshot()
    if (!loaded) return null
    const board = inbox.getSnapshot()
    out.print(...scroll.advance(entries, reader))
    tellPending(board, told)
    if (board.ended) throw board.ended
    const from = said === null ? 0 : entries.findIndex(({ id }) => id === said)
    const turns = from < 0 ? [] : entries.slice(from).filter(entry => entry.kind === 'turn')
    if (said !== null && turns.length === 0) return wasRefused(entries[from]) ? 1 : null
    return codeOf(board.sessions.get(session.id), turns.at(-1)?.ending ?? null)
  }
  try {
    return await new Promise<number>((resolve, reject) => {
      const check = () => {
        try {
          const code = look()
          if (code !== null) resolve(code)
        } catch (error) {
          reject(error)
        }
      }
      inbox.subscribe(check)
      transcript.subscribe(check)
      // All of it may have been there before.
      check()
    })
  } finally {
    transcript.close()
    inbox.close()
  }
}

function tellPending({ order, requests }: InboxSnapshot, told: Set<RequestId>): void {
  for (const id of order) {
    const request = requests.get(id)
    if (!request || told.has(id)) continue
    told.add(id)
    out.print(
      row(
        trusted('● ', 'waiting'),
        trusted(actionLabel(request.ask), 'strong'),
        trusted(`  waits: holdpoint show ${id}`),
      ),
      indented(trusted('There is no terminal to ask in: answer it by allow, deny or answer, or on the page.', 'quiet')),
    )
  }
}

function wasRefused(entry: Entry | undefined): boolean {
  return entry?.kind === 'message' && entry.state === 'failed'
}

/** Null while there is more to come. */
function codeOf(session: Session | undefined, turn: string | null): number | null {
  if (session?.state === 'ended') return session.ending?.reason === 'failed' ? 1 : 0
  const rests = session?.state === 'idle' || session?.state === 'parked'
  return rests && session.pending === 0 && turn !== null ? Number(turn === 'failed') : null
}

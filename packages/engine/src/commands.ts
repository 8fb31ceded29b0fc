/** Adds the commands of people, and those of the gateway itself, to sessions. */
import type { CommandBody } from '@holdpoint/protocol'
import type { ChangeBuilder } from './change-builder.ts'
import type { Context } from './context.ts'
import type { CommandRow, SessionRow } from './rows.ts'
import { hasPendingRequests } from './session-transitions.ts'
import { toCommand } from './wire-views.ts'

export type CommandAuthor = Pick<CommandRow, 'madeBy' | 'madeById'>

/** Appends a command. The counter of the session defines the order of its commands. */
export function addCommand(
  ctx: Context,
  change: ChangeBuilder,
  author: CommandAuthor,
  session: SessionRow,
  body: CommandBody,
): { session: SessionRow; command: CommandRow } {
  const command: CommandRow = {
    id: ctx.newId('cmd'),
    session: session.id,
    seq: session.commandSeq + 1,
    body,
    ...author,
    madeAt: change.now,
    state: 'waiting',
    outcome: null,
    ord: change.nextSeq,
  }
  change.put('command', command)
  change.event(session.id, { type: 'command.added', value: toCommand(command) })
  const resumes = session.state === 'parked' && body.kind !== 'mode' && !hasPendingRequests(change, session.id)
  return {
    command,
    session: change.put('session', {
      ...session,
      commandSeq: command.seq,
      needsRunner: session.needsRunner || resumes,
    }),
  }
}

/** Operations on attachments: files that a person adds to a session in parts and then sends with a message. The log contains their digests, and the tables contain their content. */
import {
  type Attachment,
  type AttachmentId,
  Fault,
  limits,
  type Output,
  type ParsedInput,
  type SessionId,
} from '@holdpoint/protocol'
import { maySee, personIdOf, sessionNotFound } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import type { AttachmentRow } from '../rows.ts'
import type { Query, Read } from '../store.ts'

type StoredAttachment = Output<'addAttachment'>

function partId(attachment: AttachmentId, part: number): string {
  return `${attachment}/${part}`
}
function attachmentNotFound(id: AttachmentId): Fault {
  return new Fault('not_found', `There is no attachment ${id}`, { id })
}
function toAttachment({ id, type, mediaType, name, bytes, partDigests }: AttachmentRow): StoredAttachment {
  const digest = sha256(partDigests.map(part => `${part}\n`).join(''))
  return { id, type, mediaType, ...(name === undefined ? {} : { name }), bytes, digest }
}

/** Selects the attachments of a session that no message has sent. */
function unsentIn(session: SessionId): Query {
  return { where: { session }, atMost: { unsentSince: Number.MAX_SAFE_INTEGER }, limit: limits.unsentAttachmentsMax }
}

export async function addAttachment(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'addAttachment'>,
  options: DispatchOptions,
) {
  const id = ctx.newId('att')
  const unsent = unsentIn(input.id)
  const content = decodePart(input.data)
  return ctx.commit<StoredAttachment>(
    {
      label: 'addAttachment',
      reads: [
        { table: 'session', id: input.id },
        { table: 'attachment', query: unsent },
      ],
      decide: change => {
        if (!change.get('session', input.id)) return sessionNotFound(input.id)
        if (change.find('attachment', unsent).length >= limits.unsentAttachmentsMax)
          return new Fault(
            'too_many',
            `Session ${input.id} has ${limits.unsentAttachmentsMax} attachments that were not sent; send some of them first`,
          )
        const { type, mediaType, name } = input
        const row: AttachmentRow = {
          id,
          ord: change.nextSeq,
          session: input.id,
          person: personIdOf(caller),
          addedAt: change.now,
          type,
          mediaType,
          ...(name === undefined ? {} : { name }),
          bytes: 0,
          partDigests: [],
          isSent: false,
        }
        return { status: 201, body: toAttachment(putPart(change, row, content)) }
      },
    },
    { caller, op: 'addAttachment', input, options },
  )
}

export async function appendAttachment(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'appendAttachment'>,
  options: DispatchOptions,
) {
  const content = decodePart(input.data)
  return ctx.commit<StoredAttachment>(
    {
      label: 'appendAttachment',
      reads: [{ table: 'attachment', id: input.id }],
      decide: change => {
        const row = change.get('attachment', input.id)
        if (!row || row.isSent || row.person !== caller.id) return attachmentNotFound(input.id)
        const { length } = row.partDigests
        if (input.part !== length) return new Fault('bad_input', `part: the next part of ${input.id} is ${length}`)
        if (row.bytes !== length * limits.attachmentPartMaxBytes)
          return new Fault(
            'bad_input',
            `part: the last part of ${input.id} was shorter than ${limits.attachmentPartMaxBytes} bytes, so the file is complete`,
          )
        if (row.bytes + content.bytes > limits.attachmentMaxBytes)
          return new Fault('bad_input', `data: an attachment can have at most ${limits.attachmentMaxBytes} bytes`)
        return { status: 200, body: toAttachment(putPart(change, row, content)) }
      },
    },
    { caller, op: 'appendAttachment', input, options },
  )
}

interface PartContent {
  readonly data: string
  readonly bytes: number
  readonly digest: string
}
function decodePart(data: string): PartContent {
  const decoded = Buffer.from(data, 'base64')
  return { data, bytes: decoded.length, digest: sha256(decoded) }
}
function putPart(change: ChangeBuilder, row: AttachmentRow, { data, bytes, digest }: PartContent): AttachmentRow {
  const { id, session, partDigests } = row
  change.put('part', { id: partId(id, partDigests.length), ord: change.nextSeq, session, data })
  return change.put('attachment', { ...row, bytes: row.bytes + bytes, partDigests: [...partDigests, digest] })
}

/** Returns a part to everyone who may see the session. Until it is sent, an attachment exists only for the person who added it. */
export async function getAttachmentPart(ctx: Context, caller: Caller, input: ParsedInput<'getAttachmentPart'>) {
  const row = await ctx.store.get('attachment', input.id)
  const session = row && (await ctx.store.get('session', row.session))
  const isVisible = session && maySee(caller, session) && (row.isSent || row.person === caller.id)
  const part = isVisible && (await ctx.store.get('part', partId(input.id, input.part)))
  if (!part) throw attachmentNotFound(input.id)
  return { status: 200, body: { data: part.data, parts: row.partDigests.length } }
}

export function attachmentReads(ids: readonly AttachmentId[] = []): readonly Read[] {
  return ids.map(id => ({ table: 'attachment', id }) as const)
}

/** Marks the attachments of a message as sent. Returns them as the message contains them, or a Fault. */
export function sendAttachments(
  change: ChangeBuilder,
  caller: Caller,
  session: SessionId,
  ids: readonly AttachmentId[],
): readonly Attachment[] | Fault {
  const rows: AttachmentRow[] = []
  for (const id of ids) {
    const row = change.get('attachment', id)
    if (!row || row.isSent || row.session !== session || row.person !== caller.id)
      return new Fault('bad_input', `attachments: you have no unsent attachment ${id} in session ${session}`, { id })
    rows.push(row)
  }
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  if (bytes > limits.attachmentsMaxBytes)
    return new Fault('bad_input', `attachments: the files of a message can have ${limits.attachmentsMaxBytes} bytes`)
  for (const row of rows) change.put('attachment', { ...row, isSent: true })
  return rows.map(toAttachment)
}

/** Deletes an attachment unless a message has sent it, one part at a time, because each part is a large row. */
export async function deleteUnsentAttachment(ctx: Context, id: AttachmentId): Promise<void> {
  for (let partsLeft = (await ctx.store.get('attachment', id))?.partDigests.length ?? 0; partsLeft > 0; partsLeft--) {
    const last = partId(id, partsLeft - 1)
    await ctx.commit({
      label: 'sweep',
      reads: [
        { table: 'attachment', id },
        { table: 'part', id: last },
      ],
      decide: change => {
        const row = change.get('attachment', id)
        if (row && !row.isSent && row.partDigests.length === partsLeft) {
          if (change.get('part', last)) change.delete('part', last)
          if (partsLeft > 1) change.put('attachment', { ...row, partDigests: row.partDigests.slice(0, -1) })
          else change.delete('attachment', id)
        }
        return { status: 200, body: {} }
      },
    })
  }
}

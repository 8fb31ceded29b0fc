/** Attachments: adding a file in parts, sending it with a message, and who may read it. */
import { hash } from 'node:crypto'
import {
  type AttachmentFile,
  type AttachmentId,
  type Call,
  downloadAttachment,
  formatId,
  limits,
  type SessionId,
  uploadAttachments,
} from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, expectFault, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
let id: SessionId
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
  id = agent.session.id
})

const partBytes = limits.attachmentPartMaxBytes
const bytes = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, i) => i % 251))
const image = (length = 3): AttachmentFile => ({
  type: 'image',
  mediaType: 'image/png',
  name: 'a.png',
  data: bytes(length).toString('base64'),
})
async function upload(file = image(), call: Call = fixture.person): Promise<AttachmentId> {
  const [added] = await uploadAttachments(call, id, [file])
  return added as AttachmentId // one file was uploaded
}
const send = (attachments: AttachmentId[], text = '', call: Call = fixture.person) =>
  call('sendMessage', { id, text, attachments })

describe('an attachment', () => {
  it.each([1, 3, partBytes - 1, partBytes, partBytes + 1, 3 * partBytes])(
    'an attachment of %i bytes reaches the agent unchanged',
    async length => {
      const file = image(length)
      await send([await upload(file)], 'look')
      const [command] = (await fixture.runner('listCommands', { id })).items
      const body = command?.body.kind === 'message' ? command.body : null
      expect(body).toMatchObject({ text: 'look', attachments: [{ type: 'image', name: 'a.png', bytes: length }] })
      const [attachment] = body?.attachments ?? []
      expect(attachment && (await downloadAttachment(fixture.runner, attachment))).toBe(file.data)
    },
  )

  it('an attachment is in the log with its digest and without its content', async () => {
    const subscriber = await fixture.subscribe()
    await send([await upload(image(partBytes + 10))])
    const parts = [bytes(partBytes), bytes(partBytes + 10).subarray(partBytes)]
    const digest = hash('sha256', parts.map(part => `${hash('sha256', part)}\n`).join(''))
    const added = subscriber.events.filter(({ type }) => type === 'command.added')
    expect(added).toMatchObject([{ value: { body: { attachments: [{ digest, bytes: partBytes + 10 }] } } }])
    expect(JSON.stringify(added).length).toBeLessThan(1000)
  })

  it('a message without text needs an attachment', async () => {
    expect(await send([await upload()])).toMatchObject({ body: { text: '', attachments: [{}] } })
    await expectFault(fixture.person('sendMessage', { id, text: '' }), 'bad_input')
    await expectFault(send([]), 'bad_input')
    await expectFault(fixture.person('startSession', { driver: 'resumable', prompt: '' }), 'bad_input')
  })

  it('an attachment can be sent only once, by the person who added it, and only in its session', async () => {
    const added = await upload()
    const { session: other } = await fixture.startAttached()
    await expectFault(fixture.person('sendMessage', { id: other.id, text: '', attachments: [added] }), 'bad_input')
    await expectFault(send([added], '', fixture.otherPerson), 'bad_input')
    await expectFault(send([added, added]), 'bad_input')
    await expectFault(send([formatId('att', new Uint8Array(20))]), 'bad_input')
    await send([added])
    await expectFault(send([added]), 'bad_input')
  })

  it('an attachment is sent once if the message is repeated with its idempotency key', async () => {
    const attachments = [await upload()]
    const again = () => fixture.person('sendMessage', { id, text: '', attachments }, { idempotencyKey: 'k' })
    expect(await again()).toEqual(await again())
    expect((await fixture.person('listCommands', { id })).items).toHaveLength(1)
  })

  it('an attachment of a message that is refused can be sent later', async () => {
    const ended = await fixture.startAttached('unresumable')
    const [added] = await uploadAttachments(fixture.person, ended.session.id, [image()])
    await fixture.person('endSession', { id: ended.session.id })
    const attachments = [added as AttachmentId] // one file was uploaded
    await expectFault(fixture.person('sendMessage', { id: ended.session.id, text: '', attachments }), 'session_ended')
    expect(await fixture.person('getAttachmentPart', { id: attachments[0] as AttachmentId, part: 0 })).toBeDefined()
  })
})

describe('the parts of an attachment', () => {
  const append = (added: AttachmentId, part: number, length: number, call: Call = fixture.person) =>
    call('appendAttachment', { id: added, part, data: bytes(length).toString('base64') })

  it('the parts of an attachment must be appended in order, by the same person, before the file is sent', async () => {
    const added = await upload(image(partBytes))
    await expectFault(append(added, 2, 1), 'bad_input')
    await expectFault(append(added, 1, 1, fixture.otherPerson), 'not_found')
    expect(await append(added, 1, 5)).toMatchObject({ bytes: partBytes + 5 })
    await expectFault(append(added, 1, 5), 'bad_input')
    await send([added])
    await expectFault(append(added, 2, 1), 'not_found')
  })

  it('the parts of an attachment end with the first part that is shorter than the others', async () => {
    const added = await upload(image(partBytes - 1))
    await expectFault(append(added, 1, 1), 'bad_input')
  })

  it('the parts of an attachment have at most five mebibytes together', async () => {
    const added = await upload(image(limits.attachmentMaxBytes))
    const full = Math.floor(limits.attachmentMaxBytes / partBytes)
    const other = await upload(image(full * partBytes))
    const rest = limits.attachmentMaxBytes - full * partBytes
    await expectFault(append(other, full, rest + 1), 'bad_input')
    await append(other, full, rest)
    const more = [await upload(image(limits.attachmentMaxBytes)), await upload(image(limits.attachmentMaxBytes))]
    await expectFault(send([added, other, ...more]), 'bad_input')
    await send([added, other])
  })

  it('the parts of an attachment are appended once if the call is repeated with its idempotency key', async () => {
    const added = await upload(image(partBytes))
    const input = { id: added, part: 1, data: 'AAAA' }
    const again = () => fixture.person('appendAttachment', input, { idempotencyKey: 'k' })
    expect(await again()).toEqual(await again())
  })
})

describe('the content of an attachment', () => {
  const read = (added: AttachmentId, call: Call, part = 0) => call('getAttachmentPart', { id: added, part })

  it('the content of an attachment can be read by its sender before it is sent, and then by everyone who may see the session', async () => {
    const added = await upload()
    const readers = () => [
      fixture.person,
      fixture.otherPerson,
      fixture.runner,
      fixture.otherAgent,
      fixture.runnerCall(1),
    ]
    const results = () =>
      Promise.all(
        readers().map(call =>
          read(added, call).then(
            () => 'read',
            fault => fault.code,
          ),
        ),
      )
    expect(await results()).toEqual(['read', 'not_found', 'not_found', 'not_found', 'not_found'])
    await send([added])
    expect(await results()).toEqual(['read', 'read', 'read', 'not_found', 'not_found'])
    await expectFault(read(added, fixture.person, 1), 'not_found')
  })

  it('the content of an attachment is deleted with its session', async () => {
    const added = await upload()
    await send([added])
    await fixture.person('endSession', { id })
    await fixture.runner('detachSession', { id, fence: agent.fence, ending: { reason: 'done' } })
    await fixture.person('deleteSession', { id })
    await expectFault(read(added, fixture.person), 'not_found')
    expect(await fixture.store.find('part', {})).toEqual([])
    expect(await fixture.store.find('attachment', {})).toEqual([])
  })

  it('the content of an attachment is deleted a day after it was added if no message has sent it', async () => {
    const sent = await upload()
    await send([sent])
    const unsent = await upload(image(2 * partBytes))
    fixture.clock.jump(limits.unsentAttachmentKeepMs - 10_000)
    await fixture.clock.advance(1000)
    expect(await read(unsent, fixture.person)).toBeDefined()
    await fixture.clock.advance(10_000)
    await expectFault(read(unsent, fixture.person), 'not_found')
    expect(await fixture.store.find('part', {})).toHaveLength(1)
    expect(await read(sent, fixture.person)).toBeDefined()
  })
})

it('a session can have a limited number of unsent attachments', async () => {
  const added: AttachmentId[] = []
  for (let i = 0; i < limits.unsentAttachmentsMax; i++) added.push(await upload())
  await expectFault(upload(), 'too_many')
  await send(added.slice(0, 1))
  await upload()
})

it('an attachment that Holdpoint 0.1 stored inside its message can be downloaded', async () => {
  expect(await downloadAttachment(fixture.person, { type: 'image', mediaType: 'image/png', data: 'AAAA' })).toBe('AAAA')
})

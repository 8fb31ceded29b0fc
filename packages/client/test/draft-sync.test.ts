import { type Caller, callAs, type Gateway, openGateway } from '@holdpoint/engine'
import { type Call, type Frame, formatId, type Request } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DraftSync } from '../src/draft-sync.ts'
import { readLocalDraft } from '../src/local-draft.ts'

const personId = (name: string) => formatId('per', Buffer.from(name.padEnd(20)))
const caller = (role: Caller['role'], name: string): Caller => {
  return { role, id: personId(name), name, token: `tok-${name}`, via: 'api' }
}
const createStorage = () => {
  const items = new Map<string, string>()
  return {
    items,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  }
}

describe('draft sync', () => {
  let gateway: Gateway
  let request: Request
  let ada: Call
  const listeners = new Set<(frame: Frame) => void>()
  const frames = (listener: (frame: Frame) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const opened: DraftSync[] = []
  const open = (
    storage = createStorage(),
    call = ada,
    more: { readonly now?: () => number; readonly onRemoteChange?: () => void } = {},
  ) => {
    const draftSync = new DraftSync({
      call,
      id: request.id,
      me: personId('ada'),
      frames,
      storage,
      now: Date.now,
      saveDelayMs: 5,
      ...more,
    })
    draftSync.open()
    opened.push(draftSync)
    return draftSync
  }
  const stored = async () => (await ada('getDraft', { id: request.id })).draft?.draft

  beforeEach(async () => {
    gateway = await openGateway({ store: await openMemory() })
    const agent = callAs(gateway, caller('agent', 'robot'))
    ada = callAs(gateway, caller('person', 'ada'))
    const session = await agent('startSession', { driver: 'external' })
    const ask = { kind: 'approval', tool: 'Bash', input: {}, title: 'go', cwd: '/', editable: true } as const
    request = await agent('openRequest', { id: session.id, key: 'k', ask })
    await gateway.subscribe(
      caller('person', 'ada'),
      {},
      {
        frame: ({ json }) => {
          for (const listener of listeners) listener(JSON.parse(json))
        },
      },
    )
  })
  afterEach(async () => {
    for (const draftSync of opened.splice(0)) draftSync.close()
    await gateway.close()
  })

  it('draft sync shows a typed draft on another device', async () => {
    open().change({ reason: 'not now' })
    await expect.poll(stored).toEqual({ version: 1, reason: 'not now' })
    const otherDevice = open()
    await expect.poll(() => otherDevice.getSnapshot().draft).toEqual({ reason: 'not now' })
  })

  it('draft sync stores a draft in the tab while the gateway is unreachable, and saves it after a reload', async () => {
    const storage = createStorage()
    let unreachable = true
    const call: Call = (op, input) => (unreachable ? Promise.reject(new Error('unreachable')) : ada(op, input))
    const draftSync = open(storage, call)
    draftSync.change({ note: 'careful' })
    await draftSync.flush()
    draftSync.close()
    unreachable = false
    const again = open(storage, call)
    expect(again.getSnapshot().draft).toEqual({ note: 'careful' })
    await expect.poll(stored).toEqual({ version: 1, note: 'careful' })
    expect(again.getSnapshot().other).toBeNull()
  })

  it('draft sync reports a draft that is too long for the gateway and stores it in the tab only', async () => {
    const storage = createStorage()
    const draftSync = open(storage)
    draftSync.change({ edit: 'x'.repeat(70_000) })
    await draftSync.flush()
    expect(draftSync.getSnapshot().tooLong).toBe(true)
    expect(await stored()).toBeUndefined()
    expect(readLocalDraft(storage, personId('ada'), request.id).draft.edit).toHaveLength(70_000)
    draftSync.change({ edit: 'short' })
    await draftSync.flush()
    expect(draftSync.getSnapshot().tooLong).toBe(false)
    expect(await stored()).toEqual({ version: 1, edit: 'short' })
  })

  it('draft sync deletes a cleared draft at the gateway', async () => {
    const draftSync = open()
    draftSync.change({ note: 'x' })
    await draftSync.flush()
    draftSync.change({ note: '' })
    await draftSync.flush()
    expect(await stored()).toBeUndefined()
  })

  it('draft sync saves nothing while an answer is being sent, and saves the draft if sending fails', async () => {
    const draftSync = open()
    draftSync.pauseSaving()
    draftSync.change({ note: 'x' })
    await draftSync.flush()
    expect(await stored()).toBeUndefined()
    draftSync.resumeSaving()
    await expect.poll(stored).toEqual({ version: 1, note: 'x' })
  })

  it('draft sync removes the stored draft after the person has answered', async () => {
    const storage = createStorage()
    const draftSync = open(storage)
    draftSync.change({ note: 'x' })
    draftSync.pauseSaving()
    const { id, digest } = request
    await ada('answerRequest', { id, digest, answer: { kind: 'allow', note: 'x' } })
    await expect.poll(() => storage.items.size).toBe(0)
    await draftSync.flush()
    expect(await stored()).toBeUndefined()
  })

  it('draft sync keeps the draft in the tab if someone else has answered', async () => {
    const storage = createStorage()
    const draftSync = open(storage)
    draftSync.change({ note: 'half a' })
    const { id, digest } = request
    await callAs(gateway, caller('person', 'bob'))('answerRequest', { id, digest, answer: { kind: 'allow' } })
    draftSync.close()
    await draftSync.flush()
    expect(readLocalDraft(storage, personId('ada'), id).draft).toEqual({ note: 'half a' })
  })

  it('draft sync does not show a draft to another person in the same tab', async () => {
    const storage = createStorage()
    const adas = open(storage, () => Promise.reject(new Error('unreachable')))
    adas.change({ reason: 'private' })
    await adas.flush()
    const bob = callAs(gateway, caller('person', 'bob'))
    const bobs = new DraftSync({ call: bob, id: request.id, me: personId('bob'), frames, storage, now: Date.now })
    opened.push(bobs)
    bobs.open()
    await bobs.flush()
    expect(bobs.getSnapshot().draft).toEqual({})
    expect((await bob('getDraft', { id: request.id })).draft).toBeNull()
    expect(open(storage).getSnapshot().draft).toEqual({ reason: 'private' })
  })

  it('draft sync lists the other people who are answering, until they stop', async () => {
    const bob = callAs(gateway, caller('person', 'bob'))
    await bob('putDraft', { id: request.id, draft: {} })
    const draftSync = open()
    const others = () => draftSync.getSnapshot().others.map(({ name }) => name)
    await expect.poll(others).toEqual(['bob'])
    const sendAnswering = (person: string, active: boolean) => {
      for (const listener of listeners)
        listener({ frame: 'answering', request: request.id, person, personId: personId(person), active })
    }
    sendAnswering('cleo', true)
    sendAnswering('ada', true)
    expect(others()).toEqual(['bob', 'cleo'])
    sendAnswering('bob', false)
    expect(others()).toEqual(['cleo'])
  })

  describe('draft sync between two devices of one person', () => {
    const shows = (draftSync: DraftSync, draft: object) =>
      expect.poll(() => draftSync.getSnapshot()).toMatchObject({ draft })
    const offers = (draftSync: DraftSync, draft: object, device = 'other') =>
      expect.poll(() => draftSync.getSnapshot().other).toEqual({ draft, device })

    it('draft sync shows and reports every change of the other device if nothing was typed here', async () => {
      const here = open()
      const onRemoteChange = vi.fn()
      const other = open(createStorage(), ada, { onRemoteChange })
      for (const reason of ['b', 'be', 'because']) {
        here.change({ reason })
        await shows(other, { reason })
      }
      expect(onRemoteChange).toHaveBeenCalledTimes(3)
      here.change({ reason: '' })
      await expect.poll(() => other.getSnapshot().draft).toEqual({})
      expect(here.getSnapshot().other).toBeNull()
    })

    it('draft sync saves the draft while the person keeps typing', async () => {
      const here = open()
      let letters = ''
      const typing = setInterval(() => {
        letters += 'x'
        here.change({ note: letters })
      }, 2)
      await expect.poll(stored).toBeDefined()
      clearInterval(typing)
    })

    it('draft sync never overwrites a draft that was typed here, and offers the draft of the other device', async () => {
      const [here, other] = [open(), open()]
      here.change({ reason: 'mine' })
      other.change({ note: 'from the other' })
      await Promise.all([here.flush(), other.flush()])
      await offers(here, { note: 'from the other' })
      expect(here.getSnapshot().draft).toEqual({ reason: 'mine' })
      here.keepMine()
      await expect.poll(stored).toEqual({ version: 1, reason: 'mine' })
      expect(here.getSnapshot().other).toBeNull()
      await offers(other, { reason: 'mine' })
      expect(other.getSnapshot().draft).toEqual({ note: 'from the other' })
      other.takeOther()
      expect(other.getSnapshot()).toMatchObject({ draft: { reason: 'mine' }, other: null, swapCount: 1 })
      here.change({ reason: 'mine again' })
      await shows(other, { reason: 'mine again' })
    })

    it('draft sync offers neither the draft that was saved here nor an equal draft of the other device', async () => {
      const [here, other] = [open(), open()]
      here.change({ values: new Map([['a', '1']]) })
      here.change({ values: new Map([['a', '1'], ['b', '2']]) }) // biome-ignore format: the whole change is easier to read in one line
      await here.flush()
      other.change({ values: new Map([['b', '2'], ['a', '1']]) }) // biome-ignore format: the whole change is easier to read in one line
      await other.flush()
      await here.flush()
      expect([here.getSnapshot().other, other.getSnapshot().other]).toEqual([null, null])
    })

    it('draft sync shows the newer draft of the other device after a reload, and offers the older draft typed here', async () => {
      const storage = createStorage()
      const before = open(storage)
      before.change({ reason: 'older' })
      await before.flush()
      before.close()
      await ada('putDraft', { id: request.id, draft: { version: 1, note: 'newer' } })
      const after = open(storage)
      await shows(after, { note: 'newer' })
      await offers(after, { reason: 'older' }, 'this')
    })

    it('draft sync shows the newer draft typed here after a reload, not the older draft of the other device', async () => {
      const storage = createStorage()
      await ada('putDraft', { id: request.id, draft: { version: 1, note: 'older' } })
      const call: Call = (op, input, options) =>
        op === 'putDraft' ? Promise.reject(new Error('unreachable')) : ada(op, input, options)
      const before = open(storage, call)
      await shows(before, { note: 'older' })
      before.change({ note: 'newer' })
      await before.flush()
      before.close()
      const after = open(storage)
      await expect.poll(stored).toEqual({ version: 1, note: 'newer' })
      expect(after.getSnapshot().draft).toEqual({ note: 'newer' })
    })

    describe('draft sync with different drafts on the two devices', () => {
      /** Closes the draft and opens it again, as a reload does. */
      const reload = async (draftSync: DraftSync, storage: ReturnType<typeof createStorage>, call = ada) => {
        draftSync.close()
        await draftSync.flush()
        const next = open(storage, call)
        await next.flush()
        return next
      }
      const put = (draft: object) => ada('putDraft', { id: request.id, draft: { version: 1, ...draft } })
      /** Types a draft while the gateway is unreachable, and reconnects after another device has saved a different draft. */
      const typeOffline = async (storage: ReturnType<typeof createStorage>) => {
        let unreachable = true
        const call: Call = (op, input, options) =>
          unreachable ? Promise.reject(new Error('unreachable')) : ada(op, input, options)
        const laptop = open(storage, call, { now: () => 1 })
        laptop.change({ reason: 'laptop' })
        await laptop.flush()
        await put({ reason: 'phone' })
        unreachable = false
        for (const listener of listeners)
          listener({
            frame: 'answering',
            request: request.id,
            person: 'ada',
            personId: personId('ada'),
            active: true,
          })
        await offers(laptop, { reason: 'phone' })
        await laptop.flush()
        return laptop
      }

      it('draft sync does not overwrite the other draft with a draft that was typed offline', async () => {
        const storage = createStorage()
        const laptop = await typeOffline(storage)
        laptop.saveBeforeUnload()
        await laptop.flush()
        expect(await stored()).toEqual({ version: 1, reason: 'phone' })
        const back = await reload(laptop, storage)
        await shows(back, { reason: 'phone' })
        await offers(back, { reason: 'laptop' }, 'this')
      })

      it('draft sync saves the draft typed offline if the person chooses to keep it', async () => {
        const laptop = await typeOffline(createStorage())
        laptop.keepMine()
        await expect.poll(stored).toEqual({ version: 1, reason: 'laptop' })
      })

      it('draft sync saves the draft typed offline if the person continues typing, and still offers the other draft after a reload', async () => {
        const storage = createStorage()
        const laptop = await typeOffline(storage)
        laptop.change({ reason: 'laptop!' })
        await laptop.flush()
        expect(await stored()).toEqual({ version: 1, reason: 'laptop!' })
        const back = await reload(laptop, storage)
        await shows(back, { reason: 'laptop!' })
        await offers(back, { reason: 'phone' })
      })

      it('draft sync saves the draft typed offline when the other draft is deleted', async () => {
        const laptop = await typeOffline(createStorage())
        await ada('deleteDraft', { id: request.id })
        await expect.poll(stored).toEqual({ version: 1, reason: 'laptop' })
        expect(laptop.getSnapshot().other).toBeNull()
      })

      it('draft sync does not overwrite the other draft with a draft from before a reload', async () => {
        const storage = createStorage()
        const before = open(storage, () => Promise.reject(new Error('unreachable')))
        before.change({ reason: 'laptop' })
        await before.flush()
        await put({ reason: 'phone' })
        const after = open(storage)
        after.saveBeforeUnload()
        await after.flush()
        expect(await stored()).toEqual({ version: 1, reason: 'phone' })
      })

      it.each([
        ['saved a newer draft', { reason: 'newer' }],
        ['cleared the draft', {}],
      ])('draft sync offers the draft typed here after every reload if the other device has %s', async (_, remote) => {
        const storage = createStorage()
        let draftSync = open(storage)
        draftSync.change({ reason: 'mine' })
        await draftSync.flush()
        draftSync.close()
        await ('reason' in remote ? put(remote) : ada('deleteDraft', { id: request.id }))
        for (const _time of [1, 2, 3]) {
          draftSync = await reload(draftSync, storage)
          expect(draftSync.getSnapshot()).toMatchObject({
            draft: remote,
            other: { draft: { reason: 'mine' }, device: 'this' },
          })
        }
        await put({ reason: 'newest' })
        await shows(draftSync, { reason: 'newest' })
        await offers(draftSync, { reason: 'mine' }, 'this')
        draftSync.keepMine()
        expect((await reload(draftSync, storage)).getSnapshot().other).toBeNull()
      })
    })

    it('draft sync saves an unsaved draft at once when the page is unloaded', async () => {
      const sent: (boolean | undefined)[] = []
      const call: Call = (op, input, options) => {
        if (op === 'putDraft') sent.push(options?.keepalive)
        return ada(op, input, options)
      }
      const draftSync = open(createStorage(), call)
      draftSync.change({ note: 'the last letters' })
      draftSync.saveBeforeUnload()
      expect(sent).toEqual([true])
      await expect.poll(stored).toEqual({ version: 1, note: 'the last letters' })
    })
  })
})

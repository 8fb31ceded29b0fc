import { type Caller, callAs, type Gateway, openGateway } from '@holdpoint/engine'
import type { Call, Frame, Request } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DraftSync } from '../src/draft-sync.ts'
import { readLocalDraft } from '../src/local-draft.ts'

const caller = (role: Caller['role'], name: string): Caller => ({ role, name, token: `tok-${name}`, via: 'test' })
const shelf = () => {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

describe('the keeper of a draft', () => {
  let gateway: Gateway
  let request: Request
  let ada: Call
  const listeners = new Set<(frame: Frame) => void>()
  const frames = (listener: (frame: Frame) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const keepers: DraftSync[] = []
  const open = (
    kept = shelf(),
    call = ada,
    more: { readonly now?: () => number; readonly onRemoteChange?: () => void } = {},
  ) => {
    const keeper = new DraftSync({
      call,
      id: request.id,
      me: 'ada',
      frames,
      storage: kept,
      now: Date.now,
      saveDelayMs: 5,
      ...more,
    })
    keeper.open()
    keepers.push(keeper)
    return keeper
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
    for (const keeper of keepers.splice(0)) keeper.close()
    await gateway.close()
  })

  it('brings what was typed to another device', async () => {
    open().change({ reason: 'not now' })
    await expect.poll(stored).toEqual({ version: 1, reason: 'not now' })
    const elsewhere = open()
    await expect.poll(() => elsewhere.getSnapshot().draft).toEqual({ reason: 'not now' })
  })

  it('keeps what was typed in the tab until the gateway has it', async () => {
    const storage = shelf()
    let away = true
    const call: Call = (op, input) => (away ? Promise.reject(new Error('away')) : ada(op, input))
    const keeper = open(storage, call)
    keeper.change({ note: 'careful' })
    await keeper.flush()
    keeper.close()
    away = false
    const again = open(storage, call)
    expect(again.getSnapshot().draft).toEqual({ note: 'careful' })
    await expect.poll(stored).toEqual({ version: 1, note: 'careful' })
    expect(again.getSnapshot().other).toBeNull()
  })

  it('says of what is too long for the gateway that it is here only, until it is shorter', async () => {
    const storage = shelf()
    const keeper = open(storage)
    keeper.change({ edit: 'x'.repeat(70_000) })
    await keeper.flush()
    expect(keeper.getSnapshot().tooLong).toBe(true)
    expect(await stored()).toBeUndefined()
    expect(readLocalDraft(storage, 'ada', request.id).draft.edit).toHaveLength(70_000)
    keeper.change({ edit: 'short' })
    await keeper.flush()
    expect(keeper.getSnapshot().tooLong).toBe(false)
    expect(await stored()).toEqual({ version: 1, edit: 'short' })
  })

  it('takes an emptied draft away again', async () => {
    const keeper = open()
    keeper.change({ note: 'x' })
    await keeper.flush()
    keeper.change({ note: '' })
    await keeper.flush()
    expect(await stored()).toBeUndefined()
  })

  it('sends nothing while an answer is on its way, and all of it once that has failed', async () => {
    const keeper = open()
    keeper.pauseSaving()
    keeper.change({ note: 'x' })
    await keeper.flush()
    expect(await stored()).toBeUndefined()
    keeper.resumeSaving()
    await expect.poll(stored).toEqual({ version: 1, note: 'x' })
  })

  it('leaves nothing behind once the person has answered', async () => {
    const storage = shelf()
    const keeper = open(storage)
    keeper.change({ note: 'x' })
    keeper.pauseSaving()
    const { id, digest } = request
    await ada('answerRequest', { id, digest, answer: { kind: 'allow', note: 'x' } })
    await expect.poll(() => storage.kept.size).toBe(0)
    await keeper.flush()
    expect(await stored()).toBeUndefined()
  })

  it('keeps in the tab what was begun, where somebody else has answered', async () => {
    const storage = shelf()
    const keeper = open(storage)
    keeper.change({ note: 'half a' })
    const { id, digest } = request
    await callAs(gateway, caller('person', 'bob'))('answerRequest', { id, digest, answer: { kind: 'allow' } })
    keeper.close()
    await keeper.flush()
    expect(readLocalDraft(storage, 'ada', id).draft).toEqual({ note: 'half a' })
  })

  it('gives nobody what another person has typed in the same tab', async () => {
    const storage = shelf()
    const adas = open(storage, () => Promise.reject(new Error('away')))
    adas.change({ reason: 'private' })
    await adas.flush()
    const bob = callAs(gateway, caller('person', 'bob'))
    const bobs = new DraftSync({ call: bob, id: request.id, me: 'bob', frames, storage: storage, now: Date.now })
    keepers.push(bobs)
    bobs.open()
    await bobs.flush()
    expect(bobs.getSnapshot().draft).toEqual({})
    expect((await bob('getDraft', { id: request.id })).draft).toBeNull()
    expect(open(storage).getSnapshot().draft).toEqual({ reason: 'private' })
  })

  it('says who else is answering, and no more once they stop', async () => {
    const bob = callAs(gateway, caller('person', 'bob'))
    await bob('putDraft', { id: request.id, draft: {} })
    const keeper = open()
    await expect.poll(() => keeper.getSnapshot().others).toEqual(['bob'])
    const tell = (person: string, active: boolean) => {
      for (const listener of listeners) listener({ frame: 'answering', request: request.id, person, active })
    }
    tell('cleo', true)
    tell('ada', true)
    expect(keeper.getSnapshot().others).toEqual(['bob', 'cleo'])
    tell('bob', false)
    expect(keeper.getSnapshot().others).toEqual(['cleo'])
  })

  describe('on two devices of one person', () => {
    const shows = (keeper: DraftSync, draft: object) => expect.poll(() => keeper.getSnapshot()).toMatchObject({ draft })
    const offers = (keeper: DraftSync, draft: object, device = 'other') =>
      expect.poll(() => keeper.getSnapshot().other).toEqual({ draft, device })

    it('follows, letter by letter, where nobody has touched it, and says that it has changed', async () => {
      const here = open()
      const follow = vi.fn()
      const there = open(shelf(), ada, { onRemoteChange: follow })
      for (const reason of ['b', 'be', 'because']) {
        here.change({ reason })
        await shows(there, { reason })
      }
      expect(follow).toHaveBeenCalledTimes(3)
      here.change({ reason: '' })
      await expect.poll(() => there.getSnapshot().draft).toEqual({})
      expect(here.getSnapshot().other).toBeNull()
    })

    it('sends what is typed also while somebody goes on typing', async () => {
      const here = open()
      let letters = ''
      const typing = setInterval(() => {
        letters += 'x'
        here.change({ note: letters })
      }, 2)
      await expect.poll(stored).toBeDefined()
      clearInterval(typing)
    })

    it('never overwrites what was typed here, and offers the other', async () => {
      const [here, there] = [open(), open()]
      here.change({ reason: 'mine' })
      there.change({ note: 'theirs' })
      await Promise.all([here.flush(), there.flush()])
      await offers(here, { note: 'theirs' })
      expect(here.getSnapshot().draft).toEqual({ reason: 'mine' })
      here.keepMine()
      await expect.poll(stored).toEqual({ version: 1, reason: 'mine' })
      expect(here.getSnapshot().other).toBeNull()
      await offers(there, { reason: 'mine' })
      expect(there.getSnapshot().draft).toEqual({ note: 'theirs' })
      there.takeOther()
      expect(there.getSnapshot()).toMatchObject({ draft: { reason: 'mine' }, other: null, swapCount: 1 })
      here.change({ reason: 'mine again' })
      await shows(there, { reason: 'mine again' })
    })

    it('does not take its own echo for another’s, nor one that says the same', async () => {
      const [here, there] = [open(), open()]
      here.change({ values: new Map([['a', '1']]) })
      here.change({ values: new Map([['a', '1'], ['b', '2']]) }) // biome-ignore format: one change
      await here.flush()
      there.change({ values: new Map([['b', '2'], ['a', '1']]) }) // biome-ignore format: one change
      await there.flush()
      await here.flush()
      expect([here.getSnapshot().other, there.getSnapshot().other]).toEqual([null, null])
    })

    it('after a reload the newer one stands, and the older that was typed here is offered', async () => {
      const storage = shelf()
      const before = open(storage)
      before.change({ reason: 'older' })
      await before.flush()
      before.close()
      await ada('putDraft', { id: request.id, draft: { version: 1, note: 'newer' } })
      const after = open(storage)
      await shows(after, { note: 'newer' })
      await offers(after, { reason: 'older' }, 'this')
    })

    it('after a reload what was typed here last stands against an older one from elsewhere', async () => {
      const storage = shelf()
      await ada('putDraft', { id: request.id, draft: { version: 1, note: 'older' } })
      const call: Call = (op, input, options) =>
        op === 'putDraft' ? Promise.reject(new Error('away')) : ada(op, input, options)
      const before = open(storage, call)
      await shows(before, { note: 'older' })
      before.change({ note: 'newer' })
      await before.flush()
      before.close()
      const after = open(storage)
      await expect.poll(stored).toEqual({ version: 1, note: 'newer' })
      expect(after.getSnapshot().draft).toEqual({ note: 'newer' })
    })

    describe('keeps both where they differ', () => {
      /** The card goes and comes back, as with a reload. */
      const again = async (keeper: DraftSync, storage: ReturnType<typeof shelf>, call = ada) => {
        keeper.close()
        await keeper.flush()
        const next = open(storage, call)
        await next.flush()
        return next
      }
      const put = (draft: object) => ada('putDraft', { id: request.id, draft: { version: 1, ...draft } })
      /** Typed while the gateway was out of reach, and back when another device has sent something else. */
      const comeBack = async (storage: ReturnType<typeof shelf>) => {
        let away = true
        const call: Call = (op, input, options) => (away ? Promise.reject(new Error('away')) : ada(op, input, options))
        const laptop = open(storage, call, { now: () => 1 })
        laptop.change({ reason: 'laptop' })
        await laptop.flush()
        await put({ reason: 'phone' })
        away = false
        for (const listener of listeners)
          listener({ frame: 'answering', request: request.id, person: 'ada', active: true })
        await offers(laptop, { reason: 'phone' })
        await laptop.flush()
        return laptop
      }

      it('what was typed out of reach does not go over what came there meanwhile', async () => {
        const storage = shelf()
        const laptop = await comeBack(storage)
        laptop.saveBeforeUnload()
        await laptop.flush()
        expect(await stored()).toEqual({ version: 1, reason: 'phone' })
        const back = await again(laptop, storage)
        await shows(back, { reason: 'phone' })
        await offers(back, { reason: 'laptop' }, 'this')
      })

      it('it goes there once the person stays with it', async () => {
        const laptop = await comeBack(shelf())
        laptop.keepMine()
        await expect.poll(stored).toEqual({ version: 1, reason: 'laptop' })
      })

      it('it goes there once the person types on, and the other is offered still, also after a reload', async () => {
        const storage = shelf()
        const laptop = await comeBack(storage)
        laptop.change({ reason: 'laptop!' })
        await laptop.flush()
        expect(await stored()).toEqual({ version: 1, reason: 'laptop!' })
        const back = await again(laptop, storage)
        await shows(back, { reason: 'laptop!' })
        await offers(back, { reason: 'phone' })
      })

      it('it goes there once the other one is taken back', async () => {
        const laptop = await comeBack(shelf())
        await ada('deleteDraft', { id: request.id })
        await expect.poll(stored).toEqual({ version: 1, reason: 'laptop' })
        expect(laptop.getSnapshot().other).toBeNull()
      })

      it('what stems from before a reload does not go there unasked', async () => {
        const storage = shelf()
        const before = open(storage, () => Promise.reject(new Error('away')))
        before.change({ reason: 'laptop' })
        await before.flush()
        await put({ reason: 'phone' })
        const after = open(storage)
        after.saveBeforeUnload()
        await after.flush()
        expect(await stored()).toEqual({ version: 1, reason: 'phone' })
      })

      it.each([
        ['newer there', { reason: 'newer' }],
        ['emptied there', {}],
      ])('what was typed here is offered however often the page is reloaded: %s', async (_, theirs) => {
        const storage = shelf()
        let keeper = open(storage)
        keeper.change({ reason: 'mine' })
        await keeper.flush()
        keeper.close()
        await ('reason' in theirs ? put(theirs) : ada('deleteDraft', { id: request.id }))
        for (const _time of [1, 2, 3]) {
          keeper = await again(keeper, storage)
          expect(keeper.getSnapshot()).toMatchObject({
            draft: theirs,
            other: { draft: { reason: 'mine' }, device: 'this' },
          })
        }
        await put({ reason: 'newest' })
        await shows(keeper, { reason: 'newest' })
        await offers(keeper, { reason: 'mine' }, 'this')
        keeper.keepMine()
        expect((await again(keeper, storage)).getSnapshot().other).toBeNull()
      })
    })

    it('sends what is left at once when the page goes, whatever is under way', async () => {
      const sent: (boolean | undefined)[] = []
      const call: Call = (op, input, options) => {
        if (op === 'putDraft') sent.push(options?.keepalive)
        return ada(op, input, options)
      }
      const keeper = open(shelf(), call)
      keeper.change({ note: 'the last letters' })
      keeper.saveBeforeUnload()
      expect(sent).toEqual([true])
      await expect.poll(stored).toEqual({ version: 1, note: 'the last letters' })
    })
  })
})

import { type Caller, callAs, type Desk, openDesk } from '@holdpoint/engine'
import type { Call, Frame, Request } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DraftKeeper } from '../../src/cards/draft-keeper.ts'

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
  let desk: Desk
  let request: Request
  let ada: Call
  const listeners = new Set<(frame: Frame) => void>()
  const frames = (listener: (frame: Frame) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const keepers: DraftKeeper[] = []
  const open = (storage = shelf(), call = ada) => {
    const keeper = new DraftKeeper({ call, id: request.id, me: 'ada', frames, storage, waitMs: 5 })
    keeper.open()
    keepers.push(keeper)
    return keeper
  }
  const stored = async () => (await ada('getDraft', { id: request.id })).draft?.draft

  beforeEach(async () => {
    desk = await openDesk({ store: await openMemory() })
    const agent = callAs(desk, caller('agent', 'robot'))
    ada = callAs(desk, caller('person', 'ada'))
    const session = await agent('startSession', { driver: 'external' })
    const ask = { kind: 'approval', tool: 'Bash', input: {}, title: 'go', cwd: '/', editable: true } as const
    request = await agent('openRequest', { id: session.id, key: 'k', ask })
  })
  afterEach(async () => {
    for (const keeper of keepers.splice(0)) keeper.close()
    await desk.close()
  })

  it('brings what was typed to another device', async () => {
    open().change({ reason: 'not now' })
    await vi.waitFor(async () => expect(await stored()).toEqual({ version: 1, reason: 'not now' }))
    const elsewhere = open()
    await vi.waitFor(() => expect(elsewhere.getSnapshot().draft).toEqual({ reason: 'not now' }))
  })

  it('keeps what was typed in the tab until the gateway has it', async () => {
    const storage = shelf()
    let away = true
    const call: Call = (op, input) => (away ? Promise.reject(new Error('away')) : ada(op, input))
    const keeper = open(storage, call)
    keeper.change({ note: 'careful' })
    await keeper.flush()
    expect(storage.kept.size).toBe(1)
    keeper.close()
    away = false
    const again = open(storage, call)
    expect(again.getSnapshot().draft).toEqual({ note: 'careful' })
    await vi.waitFor(() => expect(storage.kept.size).toBe(0))
    expect(await stored()).toEqual({ version: 1, note: 'careful' })
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
    keeper.hold()
    keeper.change({ note: 'x' })
    await keeper.flush()
    expect(await stored()).toBeUndefined()
    keeper.release()
    await vi.waitFor(async () => expect(await stored()).toEqual({ version: 1, note: 'x' }))
  })

  it('leaves nothing behind once the request is answered', async () => {
    const storage = shelf()
    const keeper = open(storage)
    keeper.change({ note: 'x' })
    keeper.finish()
    await keeper.flush()
    expect(storage.kept.size).toBe(0)
    expect(await stored()).toBeUndefined()
  })

  it('says who else is answering, and no more once they stop', async () => {
    const bob = callAs(desk, caller('person', 'bob'))
    await bob('putDraft', { id: request.id, draft: {} })
    const keeper = open()
    await vi.waitFor(() => expect(keeper.getSnapshot().others).toEqual(['bob']))
    const tell = (person: string, active: boolean) => {
      for (const listener of listeners) listener({ frame: 'answering', request: request.id, person, active })
    }
    tell('cleo', true)
    tell('ada', true)
    expect(keeper.getSnapshot().others).toEqual(['bob', 'cleo'])
    tell('bob', false)
    expect(keeper.getSnapshot().others).toEqual(['cleo'])
  })
})

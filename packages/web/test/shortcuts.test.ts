import type { Ask, RequestId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import type { CardActions } from '../src/shortcuts/card-actions.ts'
import { actOnCard, type KeyPress, readKeyPress } from '../src/shortcuts/shortcuts.ts'

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  repeat: false,
  isComposing: false,
  typing: false,
  onControl: false,
  modal: false,
  ...more,
})

describe('readKeyPress', () => {
  it.each([
    ['j', 'next'],
    ['k', 'previous'],
    ['Enter', 'open'],
    ['a', 'allow'],
    ['d', 'deny'],
    ['e', 'edit'],
    ['x', 'select'],
    ['X', 'range'],
    ['.', 'more'],
    ['/', 'search'],
    ['n', 'start'],
    ['?', 'help'],
    ['Escape', 'escape'],
  ])('readKeyPress maps the key %s to the shortcut “%s”', (key, name) => {
    expect(readKeyPress(press(key))).toEqual({ name })
  })
  it('readKeyPress maps the keys 1 to 9 to the options of a question', () => {
    expect(readKeyPress(press('3'))).toEqual({ name: 'choose', n: 3 })
    expect(readKeyPress(press('0'))).toBeNull()
  })
  it('readKeyPress maps the key after g to a screen, never to an answer', () => {
    expect(readKeyPress(press('g'))).toEqual({ name: 'g' })
    expect(readKeyPress(press('s'), 100)).toEqual({ name: 'sessions' })
    expect(readKeyPress(press('a'), 100)).toBeNull()
  })
  it('readKeyPress ignores the keys i, s and r if they are pressed 1.5 to 6 seconds after g', () => {
    expect(readKeyPress(press('i'), 2000)).toBeNull()
    expect(readKeyPress(press('j'), 2000)).toEqual({ name: 'next' })
    expect(readKeyPress(press('i'), 10_000)).toEqual({ name: 'interrupt' })
  })
  it.each(['a', 'd', 'j', '1', 'Escape', '?'])(
    'readKeyPress ignores the key %s while the person types, while a dialog is open, and during an IME composition',
    key => {
      expect(readKeyPress(press(key, { typing: true }))).toBeNull()
      expect(readKeyPress(press(key, { modal: true }))).toBeNull()
      expect(readKeyPress(press(key, { isComposing: true }))).toBeNull()
    },
  )
  it.each(['ctrlKey', 'metaKey', 'altKey'] as const)(
    'readKeyPress leaves keys pressed with %s to the browser, except for Ctrl+K and Cmd+K',
    modifier => {
      expect(readKeyPress(press('a', { [modifier]: true }))).toBeNull()
      const palette = modifier === 'altKey' ? null : { name: 'palette' }
      expect(readKeyPress(press('k', { [modifier]: true, typing: true }))).toEqual(palette)
    },
  )
  it('readKeyPress lets a held key move the selection and nothing else', () => {
    expect(readKeyPress(press('j', { repeat: true }))).toEqual({ name: 'next' })
    for (const key of ['a', 'd', 'x', '1', 'Enter']) expect(readKeyPress(press(key, { repeat: true }))).toBeNull()
  })
  it('readKeyPress leaves Enter to the focused button or link, and the arrow keys to the browser', () => {
    expect(readKeyPress(press('Enter', { onControl: true }))).toBeNull()
    expect(readKeyPress(press('ArrowDown'))).toBeNull()
    expect(readKeyPress(press('j', { onControl: true }))).toEqual({ name: 'next' })
  })
})

describe('actOnCard', () => {
  const ask: Ask = { kind: 'approval', tool: 'Bash', input: {}, title: 't', cwd: '/', editable: true }
  const id = 'req_1' as RequestId // no gateway reads it
  const called: unknown[] = []
  const actions: CardActions = {
    allow: press => called.push('allow', press),
    allowAnswer: { kind: 'allow' },
    choose: n => called.push(`choose ${n}`),
  }

  it('actOnCard returns the action that the card has registered, which is a decision or is carried out at once', () => {
    const allow = actOnCard({ name: 'allow' }, { id, ask }, actions, false)
    if (!allow || !('decide' in allow)) throw new Error('not a decision')
    expect(allow).toMatchObject({ target: 'card', content: 'req_1 {"kind":"allow"}' })
    allow.decide(5)
    const choose = actOnCard({ name: 'choose', n: 2 }, { id, ask }, actions, false)
    if (!choose || !('act' in choose)) throw new Error('not an action')
    choose.act()
    expect(called).toEqual(['allow', { at: 5, isHeldKey: true }, 'choose 2'])
  })
  it('actOnCard refuses to act right after the list changed', () => {
    expect(actOnCard({ name: 'allow' }, { id, ask }, actions, true)).toEqual({
      why: expect.stringContaining('changed'),
    })
  })
  it('actOnCard refuses to allow a request that the agent flags as dangerous', () => {
    const dangerous: Ask = { ...ask, caution: { defaultToNo: true } }
    expect(actOnCard({ name: 'allow' }, { id, ask: dangerous }, actions, false)).toEqual({
      why: expect.stringContaining('is dangerous'),
    })
  })
  it('actOnCard gives a reason if the request cannot be allowed, and returns null for any other action that the card does not have', () => {
    expect(actOnCard({ name: 'allow' }, { id, ask }, {}, false)).toEqual({ why: expect.any(String) })
    expect(actOnCard({ name: 'edit' }, { id, ask }, {}, false)).toBeNull()
  })
})

import type { Ask } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
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

describe('a key press', () => {
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
  ])('of %s means %s', (key, name) => {
    expect(readKeyPress(press(key))).toEqual({ name })
  })
  it('of a digit chooses', () => {
    expect(readKeyPress(press('3'))).toEqual({ name: 'choose', n: 3 })
    expect(readKeyPress(press('0'))).toBeNull()
  })
  it('after g goes to a screen, and never decides', () => {
    expect(readKeyPress(press('g'))).toEqual({ name: 'g' })
    expect(readKeyPress(press('s'), 100)).toEqual({ name: 'sessions' })
    expect(readKeyPress(press('a'), 100)).toBeNull()
  })
  it('that comes too late behind g name nothing by itself', () => {
    expect(readKeyPress(press('i'), 2000)).toBeNull()
    expect(readKeyPress(press('j'), 2000)).toEqual({ name: 'next' })
    expect(readKeyPress(press('i'), 10_000)).toEqual({ name: 'interrupt' })
  })
  it.each(['a', 'd', 'j', '1', 'Escape', '?'])(
    'of %s means nothing while typing, behind a dialog or while composing',
    key => {
      expect(readKeyPress(press(key, { typing: true }))).toBeNull()
      expect(readKeyPress(press(key, { modal: true }))).toBeNull()
      expect(readKeyPress(press(key, { isComposing: true }))).toBeNull()
    },
  )
  it.each(['ctrlKey', 'metaKey', 'altKey'] as const)('with %s is the browser’s, except for the palette', modifier => {
    expect(readKeyPress(press('a', { [modifier]: true }))).toBeNull()
    const palette = modifier === 'altKey' ? null : { name: 'palette' }
    expect(readKeyPress(press('k', { [modifier]: true, typing: true }))).toEqual(palette)
  })
  it('held down moves, and decides nothing', () => {
    expect(readKeyPress(press('j', { repeat: true }))).toEqual({ name: 'next' })
    for (const key of ['a', 'd', 'x', '1', 'Enter']) expect(readKeyPress(press(key, { repeat: true }))).toBeNull()
  })
  it('leaves Enter to a button or a link, and the arrows to the browser', () => {
    expect(readKeyPress(press('Enter', { onControl: true }))).toBeNull()
    expect(readKeyPress(press('ArrowDown'))).toBeNull()
    expect(readKeyPress(press('j', { onControl: true }))).toEqual({ name: 'next' })
  })
})

describe('a key on a card', () => {
  const ask: Ask = { kind: 'approval', tool: 'Bash', input: {}, title: 't', cwd: '/', editable: true }
  const done: string[] = []
  const actions = { allow: () => void done.push('allow'), choose: (n: number) => void done.push(`choose ${n}`) }

  it('name what the card offers', () => {
    for (const stroke of [{ name: 'allow' }, { name: 'choose', n: 2 }] as const) {
      const act = actOnCard(stroke, { ask }, actions, false)
      if (typeof act === 'function') act()
    }
    expect(done).toEqual(['allow', 'choose 2'])
  })
  it('name nothing right after a change', () => {
    expect(actOnCard({ name: 'allow' }, { ask }, actions, true)).toEqual({ why: expect.stringContaining('changed') })
  })
  it('never allows what its agent advises against', () => {
    const wary: Ask = { ...ask, caution: { defaultToNo: true } }
    expect(actOnCard({ name: 'allow' }, { ask: wary }, actions, false)).toEqual({
      why: expect.stringContaining('Flagged as dangerous'),
    })
  })
  it('says why where nothing can be allowed, and is silent about what a card name not have', () => {
    expect(actOnCard({ name: 'allow' }, { ask }, {}, false)).toEqual({ why: expect.any(String) })
    expect(actOnCard({ name: 'edit' }, { ask }, {}, false)).toBeNull()
  })
})

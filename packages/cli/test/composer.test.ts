/** The line in which a person writes to a session: what could not be sent or edited is told, and nothing typed is lost. */
import { beforeEach, describe, expect, it } from 'vitest'
import { Composer } from '../src/tui/run/composer.ts'
import { KeyParser } from '../src/tui/terminal/key-parser.ts'

let sent: string[]
let refuse: Error | null
let edited: string | null
let composer: Composer
let changed: () => void
beforeEach(() => {
  sent = []
  refuse = null
  edited = null
  changed = () => {}
  composer = new Composer({
    send: async text => {
      if (refuse) throw refuse
      sent.push(text)
    },
    edit: async () => edited,
    changed: () => changed(),
  })
})
/** Types it, and waits until something has come of the last key. */
async function type(text: string): Promise<void> {
  for (const key of new KeyParser().push(text)) composer.press(key)
  await new Promise<void>(resolve => {
    changed = resolve
  })
}

describe('a line to a session', () => {
  it('is sent by Enter, and is empty then', async () => {
    await type('go on\r')
    expect([sent, composer.isEmpty, composer.hint]).toEqual([['go on'], true, null])
  })
  it('that could not be sent comes back, with why', async () => {
    refuse = new Error('The session has ended.')
    await type('go on\r')
    expect(composer.line.text).toBe('go on')
    expect(composer.hint).toBe('It was not sent: The session has ended.')
  })
  it('comes from the editor with /edit; one that failed is told', async () => {
    edited = 'two\nlines\n'
    await type('/edit\r')
    expect(composer.line.text).toBe('two\nlines')
    composer.clear()
    edited = null
    await type('/edit\r')
    expect(composer.hint).toMatch(/The editor failed/)
    expect(sent).toEqual([])
  })
})

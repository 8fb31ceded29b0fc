/** The message line of a session: failures show a hint, and no text is lost. */
import { beforeEach, describe, expect, it } from 'vitest'
import { MessageComposer } from '../src/tui/run/composer.ts'
import { KeyParser } from '../src/tui/terminal/key-parser.ts'

let sent: string[]
let refuse: Error | null
let edited: string | null
let composer: MessageComposer
let changed: () => void
beforeEach(() => {
  sent = []
  refuse = null
  edited = null
  changed = () => {}
  composer = new MessageComposer({
    send: async text => {
      if (refuse) throw refuse
      sent.push(text)
    },
    edit: async () => edited,
    changed: () => changed(),
  })
})
/** Types the text and waits until the last key has been handled. */
async function type(text: string): Promise<void> {
  for (const key of new KeyParser().push(text)) composer.handleKey(key)
  await new Promise<void>(resolve => {
    changed = resolve
  })
}

describe('the message line', () => {
  it('sends its text on Enter and is empty afterwards', async () => {
    await type('go on\r')
    expect([sent, composer.isEmpty, composer.hint]).toEqual([['go on'], true, null])
  })
  it('shows its text again, with a hint, if sending fails', async () => {
    refuse = new Error('The session has ended.')
    await type('go on\r')
    expect(composer.line.text).toBe('go on')
    expect(composer.hint).toBe('Not sent: The session has ended.')
  })
  it('shows the text from the editor after /edit, or a hint if the editor fails', async () => {
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

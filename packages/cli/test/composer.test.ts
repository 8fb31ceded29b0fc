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
/** Types the text and presses Enter, then waits until the last key has been handled. */
async function submit(text: string): Promise<void> {
  for (const chunk of [text, '\r']) for (const key of new KeyParser().push(chunk)) composer.handleKey(key)
  await new Promise<void>(resolve => {
    changed = resolve
  })
}

describe('the message line', () => {
  it('the message line sends its text on Enter and is empty afterwards', async () => {
    await submit('go on')
    expect([sent, composer.isEmpty, composer.hint]).toEqual([['go on'], true, null])
  })
  it('the message line shows its text again, with a hint, if sending fails', async () => {
    refuse = new Error('The session has ended.')
    await submit('go on')
    expect(composer.line.text).toBe('go on')
    expect(composer.hint).toBe('Not sent: The session has ended.')
  })
  it('the message line shows the text from the editor after /edit, or a hint if the editor fails', async () => {
    edited = 'two\nlines\n'
    await submit('/edit')
    expect(composer.line.text).toBe('two\nlines')
    composer.clear()
    edited = null
    await submit('/edit')
    expect(composer.hint).toMatch(/The editor failed/)
    expect(sent).toEqual([])
  })
  it('the message line keeps pasted text with line breaks and sends nothing if the terminal has no bracketed paste', () => {
    for (const key of new KeyParser().push('one\rtwo\r')) composer.handleKey(key)
    expect([sent, composer.line.text]).toEqual([[], 'one\ntwo\n'])
  })
})

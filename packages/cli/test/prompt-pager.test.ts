/** The line below a request that is longer than the screen: which lines are visible, and how to see the others. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { layoutPrompt } from '../src/tui/prompt/layout/prompt-layout.ts'
import { handlePromptKey, markShown, openPrompt, type Prompt } from '../src/tui/prompt/prompt.ts'
import type { NamedKey } from '../src/tui/terminal/key-parser.ts'
import { pendingRequest } from './support/request.ts'

const ask: ApprovalAsk = {
  kind: 'approval',
  tool: 'Bash',
  input: { command: Array.from({ length: 70 }, (_, index) => `echo ${index}`).join('\n') },
  title: 'Count',
  cwd: '/srv/app',
  editable: true,
}
const context = { at: 1, of: 3, viewKeys: [['Ctrl+D', 'leave'] as const] }

/** Shows the request on a screen of this size, after a key was pressed if one is given. */
function shown(size: { columns: number; height: number }, key?: NamedKey) {
  let prompt: Prompt = openPrompt(pendingRequest(ask), [])
  let layout = layoutPrompt(prompt, size, context)
  prompt = markShown(prompt, layout.view)
  if (key) {
    prompt = handlePromptKey(prompt, { name: key, alone: true }, layout.view).prompt
    layout = layoutPrompt(prompt, size, context)
  }
  return layout.lines.map(line => line.map(({ text }) => text).join(''))
}

describe('a request that is longer than the screen', () => {
  it.each([30, 40, 53, 80, 120])('the status line below a long request cuts no word at %i columns', columns => {
    for (const key of [undefined, 'end', 'pagedown'] as const) {
      const lines = shown({ columns, height: 14 }, key)
      expect(lines.filter(line => /⟨|\S…\S/.test(line))).toEqual([])
      expect(lines.join('\n')).toContain('[a] Allow')
      expect(lines.join('\n')).toContain('Deny')
    }
  })
  it.each([
    [30, /^\d+–\d+ not seen · space$/],
    [53, /^lines \d+–\d+ not seen yet · space: go there$/],
    [80, /lines \d+–\d+ of \d+ · lines \d+–\d+ not seen yet · space: go there/],
  ])('after the key End, the screen with %i columns names the lines that were skipped', (columns, text) => {
    expect(shown({ columns, height: 14 }, 'end')).toContainEqual(expect.stringMatching(text))
  })
})

it('the key hints below a request name ? for help, unless the person is typing, because ? is then a part of the text', () => {
  const size = { columns: 80, height: 30 }
  const viewKeys = [['?', 'help'] as const, ['Ctrl+D', 'leave'] as const]
  const keysAfter = (letter: string) => {
    const prompt = openPrompt(pendingRequest({ ...ask, input: { command: 'ls' } }), [])
    const { view } = layoutPrompt(prompt, size, { at: 1, of: 1 })
    const typed = handlePromptKey(markShown(prompt, view), { name: 'text', text: letter, alone: true }, view).prompt
    const { lines } = layoutPrompt(typed, size, { at: 1, of: 1, viewKeys })
    return lines.map(line => line.map(({ text }) => text).join('')).join('\n')
  }
  expect(keysAfter('z')).toMatch(/\? help {2}Ctrl\+D leave/)
  for (const letter of ['d', 'n', 'w']) expect(keysAfter(letter)).toMatch(/Esc back {2}Ctrl\+D leave/)
})

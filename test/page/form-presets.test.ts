/** Tests values that an agent presets in a form: nothing in them is hidden when a person submits the form (F8, D1, G9). */
import { readFileSync } from 'node:fs'
import { displayText } from '@holdpoint/client'
import type { Ask, FormField } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions } from '../support/browser.ts'
import { button, cardOf, click, openCard, setUpPageFixture, visibleText } from './page-fixture.ts'

// The file is read instead of imported, because one entry has a lone surrogate, which not every JSON importer accepts.
const file = new URL('../../packages/protocol/test/data/display.json', import.meta.url)
const hiddenTexts = (
  JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly text: string; readonly level: string }[]
)
  .filter(({ level, text }) => level === 'character' && text.isWellFormed())
  .map(({ text }) => text) // the file contains a list of such objects

const spoofed = 'https://exa\u200bmple.com\u202e/moc.live'
const spoofedShown = 'https://exa\\u{200b}mple.com\\u{202e}/moc.live'

function form(properties: Readonly<Record<string, FormField>>): Ask {
  return { kind: 'form', title: 'Form', message: '', schema: { type: 'object', properties } }
}

describe.skipIf(hasNoBrowser())('the preset of a form field', () => {
  const fixture = setUpPageFixture()
  async function openForm(properties: Readonly<Record<string, FormField>>, options: OpenOptions = {}) {
    const page = await fixture.openPage(options)
    const request = await (await fixture.openAsker()).ask(form(properties))
    const card = await openCard(page, request)
    return { page, request, card }
  }

  it('F8: a preset with invisible characters is shown escaped below the field, and is sent only after the person confirmed it', async () => {
    const { page, request, card } = await openForm({ link: { type: 'string', title: 'Link', default: spoofed } })
    expect(await visibleText(card.locator('.exact-value'))).toContain(spoofedShown)
    await card.getByText('Invisible characters are shown as').waitFor()
    await click(page, button(card, 'Submit'))
    await card.getByText('This has hidden characters: edit it, or confirm it.').waitFor()
    await card.getByText('Fix 1 field to continue').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await card.getByLabel('Send this exact value').check()
    await click(page, button(card, 'Submit'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'submit', values: { link: spoofed } })
  })

  it('F8: a preset with invisible characters can be edited, and other hidden characters need another confirmation', async () => {
    const { page, request, card } = await openForm({ link: { type: 'string', title: 'Link', default: spoofed } })
    await card.getByLabel('Send this exact value').check()
    await card.getByRole('textbox').fill(`${spoofed}\u200b`)
    expect(await card.getByLabel('Send this exact value').isChecked()).toBe(false)
    await card.getByRole('textbox').fill('https://example.com')
    await card.locator('.exact-value').waitFor({ state: 'detached' })
    await click(page, button(card, 'Submit'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({
      kind: 'submit',
      values: { link: 'https://example.com' },
    })
  })

  it('F8 D1: presets are shown escaped for every known way to hide characters', async () => {
    const fields = hiddenTexts.map((text, i): [string, FormField] => [`f${i}`, { type: 'string', default: text }])
    const { page, request, card } = await openForm(Object.fromEntries(fields))
    const shown = await card.locator('.exact-value code').allInnerTexts()
    expect(shown).toEqual(hiddenTexts.map(text => displayText(text, { multiline: true })))
    await click(page, button(card, 'Submit'))
    await card.getByText(`Fix ${hiddenTexts.length} fields to continue`).waitFor()
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('F8: long runs of blanks, outer blanks and values that do not fit are shown in full below the field', async () => {
    const { card } = await openForm(
      {
        padded: { type: 'string', title: 'Padded', default: `npm test${' '.repeat(60)}; rm` },
        outer: { type: 'string', title: 'Outer', format: 'uri', default: ' https://example.com' },
        long: { type: 'string', title: 'Long', default: 'https://example.com/a/path/that/does/not/fit?x=rm' },
        short: { type: 'string', title: 'Short', default: 'ok' },
      },
      { viewport: { width: 320, height: 640 } },
    )
    const shown = (await card.locator('.exact-value').allInnerTexts()).join('\n')
    expect(shown).toContain('npm test⟨60 spaces⟩; rm')
    expect(shown).toContain('https://example.com/a/path/that/does/not/fit?x=rm')
    expect(shown).toContain('The value starts or ends with blanks.')
    expect(await card.locator('.exact-value').count()).toBe(3)
  })

  it('F8: choices show invisible characters in their names, and their values if the values differ from the names', async () => {
    const hidden = 'sta\u200bble'
    const many = [hidden, 'b', 'c', 'd', 'e', 'f']
    const { card } = await openForm({
      radios: { type: 'string', title: 'Radios', oneOf: [{ const: 'rm -rf', title: 'Stable' }, { const: hidden }] },
      boxes: { type: 'array', title: 'Boxes', items: { enum: [hidden] } },
      select: { type: 'string', title: 'Select', oneOf: many.map(value => ({ const: value, title: `T ${value}` })) },
    })
    const choices = await card.locator('.choice-text').allInnerTexts()
    expect(choices.map(text => text.replace(/\s+/g, ' '))).toEqual([
      'Stable rm -rf',
      'sta\\u{200b}ble',
      'sta\\u{200b}ble',
    ])
    expect(await card.getByLabel('Select').locator('option').allTextContents()).toContain(
      'T sta\\u{200b}ble (sta\\u{200b}ble)',
    )
    await card.getByText('Invisible characters are shown as').first().waitFor()
  })

  it('F8: an edited command shows invisible characters that a person pasted', async () => {
    const page = await fixture.openPage()
    const ask: Ask = {
      kind: 'approval',
      tool: 'Bash',
      title: 'x',
      cwd: '/src',
      editable: true,
      input: { command: 'ls\u200b -l' },
    }
    const card = cardOf(page, await (await fixture.openAsker()).ask(ask))
    await button(card, 'Edit…').click()
    const field = card.getByLabel('(this is what will run)')
    expect(await field.inputValue()).toContain('ls\\u200b -l')
    await field.fill('{"command": "ls \u2066-a"}')
    await expect.poll(() => visibleText(card.locator('.diff'))).toContain('ls \\u{2066}-a')
  })
})

import type { Ask } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, click, markChanged, openCard, receipt, setUpPageFixture, visibleText } from './page-fixture.ts'

/** Returns the contrast ratio of two computed colors, as defined by WCAG. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other]
    .map(colour => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(part => Number(part) / 255))
    .map(parts => parts.map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)))
    .map(([red = 0, green = 0, blue = 0]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)
    .sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

describe.skipIf(hasNoBrowser())('approvals on the page', () => {
  const fixture = setUpPageFixture()

  /** Opens the page with one request. */
  async function openRequest(ask: Ask, options = {}) {
    const page = await fixture.openPage(options)
    const request = await (await fixture.openAsker()).ask(ask)
    const card = await openCard(page, request)
    return { page, request, card }
  }

  it('a command on a card can be copied, with its invisible characters escaped', async () => {
    const request = await (await fixture.openAsker()).ask(asks.command('echo a\u200Bb'))
    const page = await fixture.openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
    const card = await openCard(page, request)
    await button(card, 'Copy').click()
    await button(card, 'Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('echo a\\u{200b}b')
  })

  it('after a person allows a command, the receipt shows who allowed it and then that the agent received the answer', async () => {
    const { page, request, card } = await openRequest(asks.command())
    expect(await visibleText(card.getByRole('heading'))).toBe('Run a command')
    expect(await visibleText(card.getByRole('figure', { name: 'Command' }))).toContain('npm run migrate -- --env')
    expect(await visibleText(card)).toContain('/src/api')
    expect(await card.getByRole('link', { name: 'api-server' }).getAttribute('href')).toBe(
      `#/sessions/${request.session}`,
    )
    await click(page, button(card, 'Allow once'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    await receipt(page, 'npm run migrate', 'allowed by you', 'the agent has not fetched it yet').waitFor()
    await fixture.reportTaken(request)
    await receipt(page, 'npm run migrate', 'allowed by you', 'delivered').waitFor()
    expect(await button(page, 'Allow once').count()).toBe(0)
  })

  it('a person can allow an edited command with a note, and the receipt shows the original and the edited command', async () => {
    const { page, request, card } = await openRequest(asks.command())
    await click(page, button(card, 'Edit…'))
    const allow = button(card, 'Allow with edits')
    await expect.poll(() => allow.isDisabled()).toBe(true)
    await card.getByLabel('(this is what will run)').fill('npm run migrate -- --env test')
    await card.getByLabel('Note for the agent').fill('never on staging')
    await click(page, allow)
    expect(await fixture.answerGivenOnPage(request)).toEqual({
      kind: 'allow',
      input: { command: 'npm run migrate -- --env test', description: 'Migrate the staging database' },
      note: 'never on staging',
    })
    expect((await fixture.waitUntilResolved(request)).resolution?.editedDigest).toMatch(/\S/)
    const line = receipt(page, '--env test', 'allowed with changes by you')
    await line.locator('summary').click()
    const details = line.locator('.receipt-details')
    await details.waitFor()
    expect(await visibleText(details)).toContain('--env staging')
    expect(await visibleText(details)).toContain('Edited before allowing')
    expect(await visibleText(details)).toContain('never on staging')
  })

  it('a person can allow a request with a note for the agent', async () => {
    const { page, request, card } = await openRequest(asks.fields())
    await button(card, 'Note…').click()
    await expect.poll(() => button(card, 'Allow with this note').isDisabled()).toBe(true)
    await page.keyboard.type('but only this one')
    await click(page, button(card, 'Allow with this note'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow', note: 'but only this one' })
    await receipt(page, 'allowed by you: but only this one').waitFor()
  })

  it('denying a request takes two steps and sends the typed reason', async () => {
    const { page, request, card } = await openRequest(asks.command())
    await button(card, 'Deny…').click()
    expect(await fixture.isPending(request)).toBe(true)
    await page.keyboard.type('not before the backup')
    await click(page, button(card, 'Deny'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'not before the backup' })
    await receipt(page, 'denied by you: not before the backup').waitFor()
  })

  it('“Deny and stop” denies the request and interrupts the agent', async () => {
    const { page, request, card } = await openRequest(asks.command())
    await button(card, 'Deny…').click()
    await click(page, button(card, 'Deny and stop'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', interrupt: true })
    await receipt(page, 'denied by you').waitFor()
  })

  it('a file edit shows the old and the new text with visible spaces and tabs, and a person can change the new text', async () => {
    // The old and the new text are side by side if the card is wide enough.
    const { page, request, card } = await openRequest(asks.edit(), { viewport: { width: 1680, height: 900 } })
    expect(await visibleText(card)).toContain('/src/api/src/retry.ts')
    await expect.poll(() => card.locator('.diff.split').count()).toBe(1)
    expect(await card.locator('.diff-row.removed').allInnerTexts()).toEqual([
      expect.stringContaining('const tries = 3'),
    ])
    await expect.poll(() => card.locator('.diff-row.added').count()).toBe(2)
    expect(await card.locator('.diff-row.added .trail').first().textContent()).toBe(' ')
    expect(await card.locator('.diff-row.added .tab').first().textContent()).toBe('\t')
    expect(await card.locator('.diff .number').allInnerTexts()).toContain('3')
    await click(page, button(card, 'Edit…'))
    const field = card.getByLabel('(this is what will run)')
    await field.fill((await field.inputValue()).replace('tries = 8 ', 'tries = 5'))
    await click(page, button(card, 'Allow with edits'))
    expect(await fixture.answerGivenOnPage(request)).toMatchObject({
      kind: 'allow',
      input: {
        file_path: '/src/api/src/retry.ts',
        new_string: 'export function retry() {\n  const tries = 5\n\tlog(tries)\n  return tries\n}',
      },
    })
    await receipt(page, '/src/api/src/retry.ts', 'allowed with changes').waitFor()
  })

  it.each(['light', 'dark'] as const)(
    'trailing spaces in a file edit have enough contrast in the %s theme',
    async colorScheme => {
      const input = { file_path: '/src/a.ts', old_string: 'one \ntwo', new_string: 'one\ntwo \t' }
      const { card } = await openRequest({ ...asks.edit(), input } as Ask, { colorScheme }) // `asks.edit()` returns an approval, which may have any `input`
      expect(await card.locator('.trail').allTextContents()).toEqual([' ', ' ', '\t'])
      for (const trail of await card.locator('.trail').all()) {
        const colours = await trail.evaluate(it => [
          getComputedStyle(it).outlineColor,
          getComputedStyle(it.closest('.diff-row') ?? it).backgroundColor,
        ])
        expect(await trail.evaluate(it => getComputedStyle(it).outlineStyle)).toBe('solid')
        expect(contrast(colours[0] ?? '', colours[1] ?? '')).toBeGreaterThan(3)
      }
    },
  )

  it('a file edit with CRLF line endings says so once, and keeps CRLF when a person changes the text', async () => {
    const input = { file_path: '/src/a.ts', old_string: 'one\r\ntwo', new_string: 'one\r\n2\r\nthree' }
    const { page, request, card } = await openRequest({ ...asks.edit(), input } as Ask) // `asks.edit()` returns an approval, which may have any `input`
    expect(await visibleText(card.locator('.file-header'))).toContain('2 added · 1 removed · CRLF line endings')
    expect(await card.locator('.diff').textContent()).not.toMatch(/CR|u\{/)
    expect(await card.locator('.hidden-warning').count()).toBe(0)
    await click(page, button(card, 'Edit…'))
    const field = card.getByLabel('Edit new text with CRLF line endings (this is what will run)')
    await expect.poll(() => field.inputValue()).toBe('one\n2\nthree')
    await field.fill('one\n2\n3\nfour')
    await expect.poll(() => card.locator('.card-panel .diff-row.added').count()).toBe(2)
    await click(page, button(card, 'Allow with edits'))
    expect(await fixture.answerGivenOnPage(request)).toMatchObject({
      input: { ...input, new_string: 'one\r\n2\r\n3\r\nfour' },
    })
    const editReceipt = receipt(page, '/src/a.ts', 'allowed with changes')
    await editReceipt.locator('summary').click()
    await editReceipt.getByText('Edited before allowing').waitFor()
    await expect.poll(() => editReceipt.locator('.remark .diff-row.added').count()).toBe(2)
  })

  it('a file edit that changes line endings marks every changed line ending', async () => {
    const input = { file_path: '/src/a.ts', old_string: 'one\r\ntwo', new_string: 'one\ntwo' }
    const { card } = await openRequest({ ...asks.edit(), input } as Ask) // `asks.edit()` returns an approval, which may have any `input`
    expect(await visibleText(card.locator('.file-header'))).toContain(
      'mixed line endings: ⟨CR⟩ marks lines that end in CRLF',
    )
    expect(await visibleText(card.locator('.diff-row.removed .line'))).toContain('one⟨CR⟩')
    expect(await visibleText(card.locator('.diff-row.added .line'))).not.toContain('CR')
  })

  it('a file edit is shown in one column on a phone', async () => {
    const { card } = await openRequest(asks.edit(), phone)
    await expect.poll(() => card.locator('.diff.unified').count()).toBe(1)
    expect(await card.locator('.diff.split').count()).toBe(0)
  })

  it('the two decisions about a plan have one height on a phone', async () => {
    const { card } = await openRequest(asks.plan(), phone)
    const [keep, approve] = await Promise.all(
      ['Keep planning…', 'Approve plan'].map(name => button(card, name).boundingBox()),
    )
    expect(keep?.height).toBe(approve?.height)
    expect(keep?.height, 'both texts are on one line').toBeLessThan(48)
  })

  it('a request to write a new file shows the whole file', async () => {
    const { page, request, card } = await openRequest(asks.write())
    expect(await visibleText(card)).toContain('new file · 12 added')
    await expect.poll(() => card.locator('.diff-row.added').count()).toBe(12)
    await click(page, button(card, 'Allow once'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    await receipt(page, '/src/api/src/greeting.ts', 'allowed by you').waitFor()
  })

  it('the input of an MCP tool is shown as fields or JSON, and edited input must be valid JSON', async () => {
    const { page, request, card } = await openRequest(asks.fields())
    expect(await visibleText(card.getByRole('heading'))).toBe('Use create_issue from tracker (MCP)')
    expect(await card.getByRole('definition').allInnerTexts()).toEqual(
      expect.arrayContaining(['API', 'Flaky test', 'null', '3']),
    )
    await button(card, 'View as JSON').click()
    expect(await visibleText(card.locator('pre').first())).toContain('"project": "API"')
    await click(page, button(card, 'Edit…'))
    const field = card.getByLabel('(this is what will run)')
    const asked = await field.inputValue()
    await field.fill('{"project": ')
    await card.locator('.problem').first().waitFor()
    await expect.poll(() => button(card, 'Allow with edits').isDisabled()).toBe(true)
    await field.fill('{"project": "WEB"}')
    await click(page, button(card, 'Allow with edits'))
    await card.getByRole('alert').getByText('Not sent: the edited input lacks "title"').waitFor()
    await field.fill(asked.replace('"API"', '"WEB"'))
    await click(page, button(card, 'Allow with edits'))
    const { ask } = request
    const input = ask.kind === 'approval' ? { ...ask.input, project: 'WEB' } : {}
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow', input })
  })

  it('the “Always…” panel shows the scope of each suggestion, and allows the request with the chosen suggestion', async () => {
    const { page, request, card } = await openRequest(asks.suggested())
    await button(card, 'Note…').click()
    await page.keyboard.type('as ever')
    await page.keyboard.press('Escape')
    await button(card, 'Always…').click()
    await card.getByText('Your note will also be sent: as ever').waitFor()
    await expect.poll(() => button(card, 'Allow and remember').isDisabled()).toBe(true)
    await card.getByRole('radio', { name: 'For you, in this folder' }).check()
    await click(page, button(card, 'Allow and remember'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow', note: 'as ever', suggestion: 's2' })
  })

  it('allowing a dangerous request needs a confirmation, and the card does not offer to remember the choice', async () => {
    const { page, request, card } = await openRequest(asks.dangerous())
    expect(await visibleText(card)).toContain('Flagged as dangerous by the agent')
    expect(await visibleText(card)).toContain('It would remove everything you own.')
    expect(await button(card, 'Always…').count()).toBe(0)
    await button(card, 'Allow anyway…').click()
    expect(await card.getByRole('button', { name: 'Back' }).evaluate(it => it === document.activeElement)).toBe(true)
    expect(await fixture.isPending(request)).toBe(true)
    await click(page, button(card, 'Allow anyway'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  describe('a plan', () => {
    it('a plan is rendered as Markdown, can be viewed as source, and can be approved', async () => {
      const { page, request, card } = await openRequest(asks.plan())
      await card.getByRole('heading', { name: 'Plan', exact: true }).waitFor()
      expect(await visibleText(card.locator('.markdown strong'))).toBe('migration')
      await button(card, 'View source').click()
      await card.getByText('**migration**').waitFor()
      await click(page, button(card, 'Approve plan'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    })

    it('a plan can be edited before it is approved', async () => {
      const { page, request, card } = await openRequest(asks.plan())
      await button(card, 'Edit the plan…').click()
      await card.getByLabel('(this is what you approve)').fill('# Plan\n\n1. Only read')
      await click(page, button(card, 'Approve with edits'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({
        kind: 'allow',
        input: { plan: '# Plan\n\n1. Only read' },
      })
    })

    it('a plan shows in every panel which mode an approval switches to, even if the mode was chosen on another device', async () => {
      const ask: Ask = { ...asks.plan(), modes: ['default', 'bypassPermissions'] } as Ask // `asks.plan()` returns an approval, which may have `modes`
      const { page, request, card } = await openRequest(ask)
      await button(card, 'Note…').click()
      const draft = { version: 1, note: 'fine', mode: 'bypassPermissions' }
      await fixture.gateway.call('putDraft', { id: request.id, draft })
      const modeSelect = card.getByLabel('After approval')
      await expect.poll(() => modeSelect.inputValue()).toBe('bypassPermissions')
      await markChanged(page)
      await modeSelect.selectOption('default')
      await click(page, button(card, 'Approve with this note'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow', note: 'fine', mode: 'default' })
    })

    it('a plan shows an unknown mode that was chosen on another device', async () => {
      const { request, card } = await openRequest(asks.plan())
      await fixture.gateway.call('putDraft', { id: request.id, draft: { version: 1, mode: 'brisk' } })
      await expect.poll(() => card.getByLabel('After approval').inputValue()).toBe('brisk')
    })

    it('a plan can be sent back to the agent with a reason', async () => {
      const { page, request, card } = await openRequest(asks.plan())
      await button(card, 'Keep planning…').click()
      await page.keyboard.type('and the rollback?')
      await click(page, button(card, 'Keep planning'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'and the rollback?' })
    })
  })
})

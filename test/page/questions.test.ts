import type { Ask, FormSchema } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, click, openCard, receipt, setUpPageFixture, visibleText } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('questions and forms on the page', () => {
  const fixture = setUpPageFixture()

  async function openRequest(ask: Ask, options: OpenOptions = {}) {
    const page = await fixture.openPage(options)
    const request = await (await fixture.openAsker()).ask(ask)
    const card = await openCard(page, request)
    return { page, request, card }
  }

  describe('questions', () => {
    it('questions are answered together on one card, with single choice, multiple choice and free text', async () => {
      const { page, request, card } = await openRequest(asks.questions())
      const format = card.getByRole('group').nth(0)
      const targets = card.getByRole('group').nth(1)
      expect(await visibleText(format)).toContain('Format')
      expect(await visibleText(format)).toContain('a brief overview')
      await expect.poll(() => card.getByRole('radio').count()).toBe(3)
      await expect.poll(() => card.getByRole('checkbox', { name: /Linux|macOS|Windows|Other/ }).count()).toBe(4)
      await expect.poll(() => button(card, 'Send answers').isDisabled()).toBe(true)
      await card.getByRole('radio', { name: 'Summary' }).check()
      await card.getByRole('radio', { name: 'Detailed' }).check()
      await button(card, 'Send, leaving 1 unanswered').waitFor()
      await card.getByRole('checkbox', { name: 'Linux' }).check()
      await card.getByRole('checkbox', { name: 'Windows' }).check()
      await targets.getByRole('textbox', { name: 'Other' }).fill('Plan 9')
      await click(page, button(card, 'Send answers'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({
        kind: 'answers',
        answers: [
          { id: 'format', chosen: ['Detailed'] },
          { id: 'targets', chosen: ['Linux', 'Windows'], other: 'Plan 9' },
        ],
      })
      await receipt(page, 'answered by you: Detailed; Linux, Windows, Plan 9').waitFor()
    })

    it('questions show the preview of the chosen option', async () => {
      const { card } = await openRequest(asks.questions())
      expect(await visibleText(card.locator('.preview.shown'))).toContain('One line per module.')
      await card.getByRole('radio', { name: 'Detailed' }).check()
      await card.locator('.preview.shown', { hasText: 'All of it.' }).waitFor()
    })

    it('questions accept free text instead of an option', async () => {
      const { page, request, card } = await openRequest(asks.questions())
      await card.getByRole('radio', { name: 'Summary' }).check()
      await card.getByRole('textbox', { name: 'Other' }).first().fill('as a table')
      await expect.poll(() => card.getByRole('radio', { name: 'Summary' }).isChecked()).toBe(false)
      await click(page, button(card, 'Send, leaving 1 unanswered'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({
        kind: 'answers',
        answers: [{ id: 'format', chosen: [], other: 'as a table' }],
      })
    })

    it('questions can be declined with a reason', async () => {
      const { page, request, card } = await openRequest(asks.questions())
      await button(card, 'Decline…').click()
      await page.keyboard.type('ask the team')
      await click(page, button(card, 'Decline'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'decline', reason: 'ask the team' })
      await receipt(page, 'declined by you: ask the team').waitFor()
    })

    it('questions use a masked field for a secret, and only the agent can read the answer', async () => {
      const page = await fixture.openPage()
      const { id: agent, secret } = await fixture.gateway.call('addToken', { role: 'agent', name: 'deployer' })
      const session = await fixture.gateway.call('startSession', { driver: 'external', options: { agent } })
      const asAgent = fixture.gateway.callAs(secret)
      const request = await asAgent('openRequest', { id: session.id, key: 'key', ask: asks.secret() })
      const card = cardOf(page, request)
      const field = card.getByLabel('Your answer')
      expect(await field.getAttribute('type')).toBe('password')
      await field.fill('s3cr3t-key')
      await field.blur()
      expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('s3cr3t')
      expect((await fixture.gateway.call('getDraft', { id: request.id })).draft).toBeNull()
      await click(page, button(card, 'Send answer'))
      const { resolution } = await asAgent('getRequest', { id: request.id, wait: 10_000 })
      expect(resolution?.answer).toMatchObject({ answers: [{ id: 'key', chosen: [], other: 's3cr3t-key' }] })
      await receipt(page, 'The deploy key?').locator('summary').click()
      await page.getByText('••••••').first().waitFor()
      expect(await visibleText(page.locator('body'))).not.toContain('s3cr3t')
    })
  })

  describe('a form', () => {
    it('a form has a field for each property of its schema, validates each field, and sends the values', async () => {
      const { page, request, card } = await openRequest(asks.form())
      await expect.poll(() => card.getByLabel('Replicas').inputValue()).toBe('2')
      await expect.poll(() => card.getByRole('switch', { name: 'Tell the team' }).isChecked()).toBe(true)
      await button(card, 'Submit').click()
      await card.getByText('Fix 3 fields to continue').waitFor()
      expect(await card.getByLabel('Version').evaluate(it => it === document.activeElement)).toBe(true)
      await card.getByLabel('Version').fill('2.0.0')
      await card.getByLabel('Replicas').fill('12')
      await card.getByText('This must be at most 9.').waitFor()
      await card.getByLabel('Replicas').fill('3')
      await card.getByRole('switch', { name: 'Tell the team' }).uncheck()
      await card.getByRole('radio', { name: 'beta' }).check()
      await card.getByRole('checkbox', { name: 'eu' }).check()
      await card.getByRole('checkbox', { name: 'ap' }).check()
      await click(page, button(card, 'Submit'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({
        kind: 'submit',
        values: { version: '2.0.0', count: 3, notify: false, channel: 'beta', regions: ['eu', 'ap'] },
      })
      await receipt(page, 'Release', 'submitted by you').waitFor()
    })

    it('a form lets an optional choice be cleared', async () => {
      const channel = { type: 'string' as const, title: 'Channel', enum: ['stable', 'beta'] }
      const schema: FormSchema = { type: 'object', properties: { channel } }
      const { page, request, card } = await openRequest({ kind: 'form', title: 'Release', message: '', schema })
      await card.getByRole('radio', { name: 'beta' }).check()
      await button(card, 'Clear').click()
      await button(card, 'Clear').waitFor({ state: 'detached' })
      await click(page, button(card, 'Submit'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'submit', values: {} })
    })

    it('a form can be submitted on a phone only after all default values have been on screen', async () => {
      const field = (_: unknown, at: number) =>
        [`f${at}`, { type: 'string', title: `Field ${at}`, default: 'x' }] as const
      const properties = Object.fromEntries(Array.from({ length: 20 }, field))
      const schema: FormSchema = { type: 'object', properties }
      const { page, request, card } = await openRequest({ kind: 'form', title: 'Release', message: '', schema }, phone)
      await card.getByText('Scroll to the end to submit.').waitFor()
      await expect.poll(() => button(card, 'Submit').isDisabled()).toBe(true)
      await card.locator('.card-body').evaluate(body => body.scrollTo(0, body.scrollHeight))
      await expect.poll(() => button(card, 'Submit').isEnabled()).toBe(true)
      await click(page, button(card, 'Submit'))
      expect(await fixture.answerGivenOnPage(request)).toMatchObject({ kind: 'submit', values: { f0: 'x', f19: 'x' } })
    })

    it('a form can be declined with “Decline and stop”, which also interrupts the agent', async () => {
      const { page, request, card } = await openRequest(asks.form())
      await button(card, 'Decline…').click()
      await click(page, button(card, 'Decline and stop'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'decline', interrupt: true })
    })

    it('a form supports every kind of field', async () => {
      const { page, request, card } = await openRequest(allFields)
      await card.getByLabel('Mail').fill('nobody')
      await card.getByLabel('Mail').blur()
      await card.getByText('This must be an email address.').waitFor()
      await card.getByLabel('Mail').fill('ada@example.com')
      await card.getByLabel('Site').fill('https://example.com/')
      await card.getByLabel('Day').fill('2026-01-31')
      await card.getByLabel('Ratio').fill('0.5')
      await card.getByLabel('Pass').fill('hush')
      expect(await card.getByLabel('Pass').getAttribute('type')).toBe('password')
      await click(page, button(card, 'Submit'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({
        kind: 'submit',
        values: {
          mail: 'ada@example.com',
          site: 'https://example.com/',
          day: '2026-01-31',
          ratio: 0.5,
          pass: '••••••',
        },
      })
      await receipt(page, 'All of it').locator('summary').click()
      await page.getByText('••••••').first().waitFor()
      expect(await visibleText(page.locator('body'))).not.toContain('hush')
      expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('hush')
    })
  })

  it('a request to open a link shows the whole URL, opens it in an isolated tab, and can then be confirmed as done', async () => {
    const { page, request, card } = await openRequest(asks.link())
    const link = card.getByRole('link', { name: 'Open tracker.example in a new tab' })
    await link.waitFor()
    expect(await visibleText(card)).toContain('https://tracker.example/sign-in?state=abc')
    expect(await link.getAttribute('href')).toBe('https://tracker.example/sign-in?state=abc')
    expect(await link.getAttribute('target')).toBe('_blank')
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    await click(page, button(card, 'I’m done'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'submit', values: {} })
  })
})

const allFieldsSchema: FormSchema = {
  type: 'object',
  properties: {
    mail: { type: 'string', title: 'Mail', format: 'email' },
    site: { type: 'string', title: 'Site', format: 'uri' },
    day: { type: 'string', title: 'Day', format: 'date' },
    ratio: { type: 'number', title: 'Ratio', minimum: 0, maximum: 1 },
    pass: { type: 'string', title: 'Pass', format: 'password' },
  },
}
const allFields: Ask = { kind: 'form', title: 'All of it', message: '', schema: allFieldsSchema }

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, click, receipt, setUpPageFixture, visibleText } from './page-fixture.ts'

/** Chooses a filter option. */
function choose(page: Page, name: string): Promise<void> {
  return page.locator('label.filter-choice').getByText(name, { exact: true }).click()
}

describe.skipIf(hasNoBrowser())('the Sessions screen', () => {
  const fixture = setUpPageFixture({ runner: 'inline' })
  const open = async () => {
    const page = await fixture.openPage()
    await page.getByRole('link', { name: 'Sessions' }).first().click()
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    const row = (title: string) => page.locator('li.session-row', { hasText: title })
    return { page, row }
  }

  it('the Sessions screen shows the current state, last message and cost of each session', async () => {
    const asker = await fixture.openAsker('billing', '/src/billing')
    const { page, row } = await open()
    const { id } = asker.session
    await fixture.gateway.call('appendEvents', {
      id,
      items: [{ type: 'message.added', block: 'b', text: 'I have counted\n\ntwice.' }],
    })
    await row('billing').getByText('I have counted twice.', { exact: true }).waitFor()
    expect(await visibleText(page.getByRole('heading', { name: '/src/billing' }))).toContain('/src/billing')
    await choose(page, 'One list')
    await page.getByRole('heading', { name: '/src/billing' }).waitFor({ state: 'detached' })
    expect(await visibleText(row('billing'))).toContain('/src/billing')
    await fixture.gateway.call('appendEvents', { id, items: [{ type: 'turn.finished', ending: 'done', cost: 0.42 }] })
    await row('billing').getByText('$0.42').waitFor()
    const request = await asker.ask(asks.command())
    await row('billing').getByText('waiting for you').waitFor()
    await expect.poll(() => row('billing').locator('.state-icon.waiting').count()).toBe(1)
    await fixture.answer(request)
    await row('billing').getByText('waiting for you').waitFor({ state: 'detached' })
  })

  it('the Sessions screen shows how long a session and its project have waited for people', async () => {
    const asker = await fixture.openAsker('slow', '/src/slow')
    await fixture.openAsker('idle', '/src/slow')
    await fixture.openAsker('lonely', '/src/lonely')
    const request = await asker.ask(asks.command())
    await expect.poll(async () => Date.now() - request.openedAt).toBeGreaterThan(1100)
    await fixture.answer(request)
    const { waitedMs = 0 } = await fixture.gateway.call('getSession', { id: asker.session.id })
    expect(waitedMs).toBeGreaterThanOrEqual(1000)
    const { page, row } = await open()
    await row('slow')
      .getByText(/^waited [\d.]+ s for people$/)
      .waitFor()
    expect(await visibleText(page.getByRole('heading', { name: '/src/slow' }))).toMatch(
      /2 sessions · waited [\d.]+ s for people/,
    )
    // The row of the only session of a project says how long it waited, so the project does not repeat it.
    expect(await visibleText(page.getByRole('heading', { name: '/src/lonely' }))).toBe('/src/lonely')
  })

  it('the Sessions screen shows an agent that failed, was lost or is disconnected with that state in the list, the sidebar and the palette', async () => {
    const failed = await fixture.openAsker('broken')
    await fixture.gateway.call('appendEvents', {
      id: failed.session.id,
      items: [
        { type: 'error.raised', code: 'x', message: 'no key' },
        { type: 'turn.finished', ending: 'failed' },
      ],
    })
    const { page, row } = await open()
    await row('broken').getByText('last turn failed').waitFor()
    expect(await row('broken').locator('.state-icon.failed').count()).toBe(1)
    const sidebar = page.getByRole('region', { name: 'Sessions: failed' })
    await sidebar.getByRole('link', { name: 'broken' }).waitFor()
    await choose(page, 'Failed')
    await row('broken').waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('dialog', { name: 'Go to' }).getByRole('combobox').fill('broken')
    await page.getByRole('option', { name: /broken.*last turn failed/ }).waitFor()
    await page.keyboard.press('Escape')
    // An ended session that failed stays in the sidebar until the person has opened it.
    await fixture.gateway.call('attachSession', { id: failed.session.id })
    await fixture.gateway.call('detachSession', { id: failed.session.id, ending: { reason: 'lost' } })
    await sidebar.getByRole('link', { name: /broken.*unread/ }).click()
    await page.getByRole('log', { name: 'Transcript' }).waitFor()
    await page.mouse.move(700, 500)
    await sidebar.waitFor({ state: 'detached' })
  })

  it('the Sessions screen marks a session as unread if its agent has said something since the person opened it', async () => {
    const first = await fixture.openAsker('first')
    const second = await fixture.openAsker('second')
    const { page, row } = await open()
    const sidebar = page.getByRole('navigation', { name: 'Screens and sessions' })
    await row('second').waitFor()
    expect(await page.locator('.unread-mark').count()).toBe(0)
    for (const { session } of [first, second])
      await fixture.gateway.call('appendEvents', {
        id: session.id,
        items: [{ type: 'message.added', block: 'b', text: 'Look.' }],
      })
    await sidebar.getByRole('link', { name: /first.*unread/ }).waitFor()
    await row('second').locator('.unread-mark').waitFor()
    await row('first').getByRole('link').click()
    await page.getByRole('log', { name: 'Transcript' }).getByText('Look.').waitFor()
    await sidebar.getByRole('link', { name: /first.*unread/ }).waitFor({ state: 'detached' })
    await page.goBack()
    await row('second').locator('.unread-mark').waitFor()
    expect(await row('first').locator('.unread-mark').count()).toBe(0)
    await page.reload()
    await row('second').locator('.unread-mark').waitFor()
    await button(page, 'Mark all as read').click()
    await row('second').locator('.unread-mark').waitFor({ state: 'detached' })
  })

  it('the Sessions screen lists waiting sessions first, and keeps the order while the pointer is in the list', async () => {
    const [old] = [await fixture.openAsker('old'), await fixture.openAsker('young')]
    const { page } = await open()
    const names = () => page.locator('.row-title .agent-inline').allTextContents()
    await page.locator('.session-row').nth(1).waitFor()
    await page.mouse.move(0, 0)
    expect((await names()).slice(0, 2)).toEqual(['young', 'old'])
    await page.locator('.session-row').first().hover()
    const request = await old.ask(asks.command())
    await page.locator('.session-row .state-icon.waiting').waitFor()
    expect((await names()).slice(0, 2)).toEqual(['young', 'old'])
    await page.mouse.move(0, 0)
    await page.waitForFunction(() => document.querySelector('.row-title .agent-inline')?.textContent === 'old')
    await fixture.answer(request)
    await page.waitForFunction(() => document.querySelector('.row-title .agent-inline')?.textContent === 'young')
  })

  it('the Sessions screen closes an open End confirmation when the session ends, and does not open a Delete confirmation', async () => {
    const { session } = await fixture.openAsker('passing')
    const { row } = await open()
    await row('passing').hover()
    await button(row('passing'), 'End this session…').click()
    await button(row('passing'), 'End').waitFor()
    await fixture.gateway.call('endSession', { id: session.id })
    await button(row('passing'), 'Delete this session…').waitFor()
    expect(await button(row('passing'), 'Delete').count()).toBe(0)
  })

  it('the Sessions screen shows the End button on hover; on touch screens, only the screen of the session has this button, and ended sessions can be deleted', async () => {
    const { session } = await fixture.openAsker('harbour')
    const seen = (page: Page) =>
      page
        .locator('.row-actions .button')
        .first()
        .evaluate(it => getComputedStyle(it).opacity)
    const { page, row } = await open()
    await row('harbour').waitFor()
    await page.mouse.move(0, 0)
    expect(await seen(page)).toBe('0')
    await row('harbour').hover()
    expect(await seen(page)).toBe('1')
    await page.mouse.move(0, 0)
    await row('harbour').getByRole('link').focus()
    expect(await seen(page)).toBe('1')
    const touched = await fixture.openPage(phone)
    await touched.goto(`${fixture.gateway.url}/#/sessions`)
    const touchedRow = touched.locator('.session-row', { hasText: 'harbour' })
    await touchedRow.waitFor()
    expect(await touchedRow.getByRole('button').filter({ visible: true }).count()).toBe(0)
    await touchedRow.getByRole('link').tap()
    await button(touched, 'End this session…').waitFor()
    await fixture.gateway.call('endSession', { id: session.id })
    await touched.goto(`${fixture.gateway.url}/#/sessions`)
    await button(touchedRow, 'Delete this session…').waitFor()
  })

  it('the Sessions screen filters sessions by state and by text', async () => {
    const docs = await fixture.openAsker('docs', '/src/docs')
    const ended = await fixture.openAsker('nightly', '/src/nightly')
    await fixture.gateway.call('endSession', { id: ended.session.id })
    await docs.ask(asks.command())
    const { page, row } = await open()
    await row('docs').waitFor()
    await choose(page, 'Waiting')
    await row('nightly').waitFor({ state: 'detached' })
    await row('docs').waitFor()
    await choose(page, 'Ended')
    await row('nightly').waitFor()
    expect(await row('docs').count()).toBe(0)
    await choose(page, 'All')
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('/src/do')
    await row('nightly').waitFor({ state: 'detached' })
    await row('docs').waitFor()
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('no such thing')
    await page.getByText('No results').waitFor()
  })

  it('the Sessions screen ends a session, and deletes an ended session, only after a confirmation', async () => {
    const asker = await fixture.openAsker('to be ended')
    const request = await asker.ask(asks.command())
    const { page, row } = await open()
    await row('to be ended').getByRole('button', { name: 'End this session…' }).click()
    await row('to be ended').getByText('This stops the agent and cancels 1 pending request.').waitFor()
    await row('to be ended').getByRole('button', { name: 'Cancel' }).click()
    expect(await fixture.isPending(request)).toBe(true)
    await row('to be ended').getByRole('button', { name: 'End this session…' }).click()
    await row('to be ended').getByRole('button', { name: 'End', exact: true }).click()
    await row('to be ended').getByText('ended').nth(1).waitFor()
    expect((await fixture.waitUntilResolved(request)).resolution).toMatchObject({
      by: 'agent',
      reason: 'session_ended',
    })
    await row('to be ended').getByRole('button', { name: 'Delete this session…' }).click()
    await row('to be ended').getByRole('button', { name: 'Delete', exact: true }).click()
    await row('to be ended').waitFor({ state: 'detached' })
    await expect(fixture.gateway.call('getSession', { id: asker.session.id })).rejects.toMatchObject({ status: 404 })
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  describe('the New session dialog', () => {
    it('the New session dialog starts a session, and shows each error at its field', async () => {
      const page = await fixture.openPage({ expectedErrors: /400/ })
      await page.keyboard.press('n')
      const dialog = page.getByRole('dialog', { name: 'New session' })
      await dialog.getByRole('radio', { name: /Rehearsal agent/ }).check()
      const folder = dialog.locator('.field', { hasText: 'Folder' })
      const missing = join(fixture.gateway.folder, 'nothing')
      await dialog.getByLabel('Folder').fill(missing)
      await folder.getByRole('alert').getByText('This folder doesn’t exist.').waitFor()
      // The session is not started either if the button is clicked before the folder was checked.
      await dialog.getByLabel('Folder').fill('src')
      await button(dialog, 'Start session').click()
      await folder.getByRole('alert').getByText('Enter an absolute path').waitFor()
      await dialog.getByLabel('Folder').fill('/')
      await folder.getByRole('alert').waitFor({ state: 'detached' })
      await dialog.getByLabel('Mode', { exact: true }).selectOption('acceptEdits')
      await dialog.getByLabel('First message').fill('A short one')
      const error = {
        code: 'bad_input',
        message: 'No.',
        detail: { issues: [{ path: 'cwd', message: 'is not there' }] },
      }
      await page.route('**/sessions', route => route.fulfill({ status: 400, json: { error } }), { times: 1 })
      await button(dialog, 'Start session').click()
      await folder.getByRole('alert').getByText('is not there').waitFor()
      await expect.poll(() => dialog.getByLabel('First message').inputValue()).toBe('A short one')
      await dialog.getByLabel('Folder').fill(fixture.gateway.folder)
      await button(dialog, 'Start session').click()
      await page.getByRole('log', { name: 'Transcript' }).getByText('A short one').waitFor()
      const { items } = await fixture.gateway.call('listSessions', { limit: 1 })
      expect(items[0]).toMatchObject({ driver: 'rehearsal', mode: 'acceptEdits', cwd: fixture.gateway.folder })
      await click(page, button(page.getByRole('article', { name: 'Run a command' }), 'Allow once'))
      await receipt(page, 'allowed by you', 'delivered').waitFor()
      // The dialog for the next session preselects the same agent, folder and mode.
      await page.reload()
      await button(page, 'New session').click()
      await dialog.getByRole('radio', { name: /Rehearsal agent/, checked: true }).waitFor()
      await expect.poll(() => dialog.getByLabel('Folder').inputValue()).toBe(fixture.gateway.folder)
      await expect.poll(() => dialog.getByLabel('Mode', { exact: true }).inputValue()).toBe('acceptEdits')
      expect(await dialog.getByLabel('First message').inputValue()).toBe('')
    })

    it('the New session dialog keeps its text when a click outside closes it', async () => {
      const { page } = await open()
      await page.keyboard.press('n')
      const dialog = page.getByRole('dialog', { name: 'New session' })
      const words = dialog.getByLabel('First message')
      await words.fill('A long one')
      await page.mouse.click(5, 5)
      await dialog.waitFor({ state: 'detached' })
      await page.keyboard.press('n')
      await expect.poll(() => words.inputValue()).toBe('A long one')
      await button(dialog, 'Cancel').click()
      await page.keyboard.press('n')
      expect(await words.inputValue()).toBe('')
    })
  })

  it('the Sessions screen shows the number of new sessions on a button instead of moving the list', async () => {
    await fixture.openAsker('old one')
    const { page, row } = await open()
    await row('old one').first().waitFor()
    await fixture.openAsker('new one')
    const more = page.getByRole('button', { name: /1 new/ })
    await more.waitFor()
    expect(await row('new one').count()).toBe(0)
    await more.click()
    await row('new one').waitFor()
  })
})

describe.skipIf(hasNoBrowser())('the audit log', () => {
  const fixture = setUpPageFixture()
  const open = async () => {
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/audit`)
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
    return page
  }

  it('the audit log lists every resolved request, can be searched and filtered, and shows the details of an entry', async () => {
    const asker = await fixture.openAsker('api')
    const other = await fixture.openAsker('docs')
    await fixture.answer(await asker.ask(asks.command('npm run deploy')), { kind: 'deny', reason: 'on a Friday?' })
    await fixture.answer(await asker.ask(asks.command('npm test')))
    await fixture.answer(await other.ask(asks.questions()), { kind: 'decline' })
    const withdrawn = await other.ask(asks.command('ls'))
    await fixture.gateway.call('withdrawRequest', { id: withdrawn.id })
    const page = await open()
    const lines = page.locator('details.receipt')
    await lines.nth(3).waitFor()
    await expect.poll(() => lines.count()).toBe(4)
    await page.getByRole('region', { name: 'Today' }).waitFor()
    await choose(page, 'Denied')
    await receipt(page, 'npm test').waitFor({ state: 'detached' })
    await receipt(page, 'npm run deploy', 'on a Friday?').waitFor()
    await choose(page, 'Any')
    await choose(page, 'Agents')
    await receipt(page, 'ls', 'withdrawn by the agent').waitFor()
    await receipt(page, 'npm run deploy').waitFor({ state: 'detached' })
    await choose(page, 'Anyone')
    await page.getByRole('combobox', { name: 'Session' }).selectOption({ label: 'docs' })
    await receipt(page, 'npm run deploy').waitFor({ state: 'detached' })
    await receipt(page, 'declined').waitFor()
    await page.getByRole('combobox', { name: 'Session' }).selectOption('')
    // The search replaces the list, so a row that is opened before would close.
    await receipt(page, 'npm test').waitFor()
    await page.getByRole('searchbox', { name: 'Search the audit log' }).fill('friday')
    await receipt(page, 'npm test').waitFor({ state: 'detached' })
    const line = receipt(page, 'npm run deploy')
    await line.locator('summary').click()
    await line.getByText('Asked: Run a command').waitFor()
    await page.getByRole('searchbox', { name: 'Search the audit log' }).fill('no such words')
    await page.getByText('No results').waitFor()
  })

  it('the audit log has columns for person, answer, session, folder, agent and surface, and filters by person, folder and day', async () => {
    const [api, docs] = [
      await fixture.openAsker('api', '/srv/columns/api'),
      await fixture.openAsker('docs', '/srv/columns/docs'),
    ]
    await fixture.answer(await api.ask(asks.command('npm run columns')), { kind: 'deny', reason: 'too wide' })
    await fixture.answer(await docs.ask(asks.command('npm run other')))
    const page = await open()
    const line = receipt(page, 'npm run columns')
    const cells = (name: string) => line.locator(`.audit-${name}`).textContent()
    await line.waitFor()
    expect(await Promise.all(['who', 'answer', 'what', 'session', 'folder', 'agent', 'via'].map(cells))).toEqual([
      'you',
      expect.stringMatching(/^denied: too wide/i),
      'npm run columns',
      'api',
      '/srv/columns/api',
      'External agent',
      'api',
    ])
    await page.getByRole('combobox', { name: 'Folder' }).fill('/srv/columns/docs')
    await line.waitFor({ state: 'detached' })
    await receipt(page, 'npm run other').waitFor()
    await page.getByRole('combobox', { name: 'Folder' }).fill('/srv/columns')
    await line.waitFor()
    await page.getByRole('combobox', { name: 'Person' }).selectOption({ label: 'owner' })
    await page.getByLabel('From', { exact: true }).fill('2020-01-01')
    await line.waitFor()
    await page.getByLabel('To', { exact: true }).fill('2020-01-02')
    await page.getByText('No results').waitFor()
    await button(page, 'Clear filters').click()
    await line.waitFor()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('')
  })

  it('the audit log offers people as a filter who have access or have answered, also while it shows the answers of one of them', async () => {
    const { secret } = await fixture.gateway.call('addToken', { role: 'person', name: 'Cleo' })
    await fixture.gateway.call('addToken', { role: 'person', name: 'Dana' })
    const { id, digest } = await (await fixture.openAsker('people')).ask(asks.command('npm run people'))
    await fixture.gateway.callAs(secret)('answerRequest', { id, digest, answer: { kind: 'allow' } })
    const page = await open()
    const people = page.getByRole('combobox', { name: 'Person' })
    const names = () => people.locator('option').allTextContents()
    await receipt(page, 'npm run people').waitFor()
    await expect.poll(names).toEqual(expect.arrayContaining(['owner', 'Cleo', 'Dana']))
    await people.selectOption({ label: 'Dana' })
    await page.getByText('No results').waitFor()
    await people.selectOption({ label: 'Cleo' })
    await receipt(page, 'npm run people').waitFor()
    expect(await names()).toEqual(expect.arrayContaining(['owner', 'Cleo', 'Dana']))
  })

  it('the audit log names the rule that answered, also after the rule was removed and if the log says so on an earlier page', async () => {
    const { id } = await fixture.gateway.call('addRule', { effect: 'deny', command: 'npm run ruled' })
    await (await fixture.openAsker('ruled')).ask(asks.command('npm run ruled'))
    const page = await open()
    const who = receipt(page, 'npm run ruled').locator('.audit-who')
    await expect.poll(() => who.textContent()).toBe('Rule: Deny npm run ruled')
    await fixture.gateway.call('removeRule', { id })
    await page.reload()
    await expect.poll(() => who.textContent()).toBe('Removed rule: Deny npm run ruled')
    await page.getByText('A rule was removed: deny npm run ruled').waitFor()
    // The decisions of rules alone contain no entry that describes the rule.
    await choose(page, 'Rules')
    await page.reload()
    await choose(page, 'Rules')
    await expect.poll(() => page.locator('.audit-notice').count()).toBe(0)
    await expect.poll(() => who.textContent()).toBe('Removed rule: Deny npm run ruled')
  })

  it('the audit log saves the entries that match the filter as CSV and as NDJSON', async () => {
    const asker = await fixture.openAsker('=export', '/srv/export')
    await fixture.answer(await asker.ask(asks.command('npm run saved')), { kind: 'deny' })
    const page = await open()
    await page.getByRole('combobox', { name: 'Folder' }).fill('/srv/export')
    await expect.poll(() => page.locator('details.receipt').count()).toBe(1)
    const save = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent('download'), button(page, name).click()])
      return { file: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
    }
    const csv = await save('Export CSV')
    expect(csv.file).toBe('holdpoint-audit.csv')
    const [head, line, ...rest] = csv.text.split('\r\n')
    expect(head).toMatch(/^"time","person or rule","answer","what","session","folder","agent","via"/)
    expect(line).toMatch(/^"[\dT:.-]+Z","owner","deny","npm run saved","'=export","\/srv\/export","external","api"/)
    expect(rest).toEqual([''])
    await page.getByText('Exported 1 entry.').waitFor()
    const ndjson = await save('Export NDJSON')
    expect(
      ndjson.text
        .trim()
        .split('\n')
        .map(entry => JSON.parse(entry).title),
    ).toEqual(['=export'])
  })

  it('the audit log shows the number of new entries on a button, and updates the delivery state of each entry', async () => {
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command('npm run late'))
    const page = await open()
    await page.locator('details.receipt').first().waitFor()
    await fixture.answer(request)
    await page.getByRole('button', { name: /1 new/ }).click()
    await receipt(page, 'npm run late', 'the agent has not fetched it yet').waitFor()
    await fixture.reportTaken(request)
    await receipt(page, 'npm run late', 'delivered').waitFor()
  })

  it('the audit log loads earlier entries on demand', async () => {
    const asker = await fixture.openAsker()
    const requests = []
    for (let i = 0; i < 70; i++) requests.push(await asker.ask(asks.command(`echo ${i}.`)))
    for (let from = 0; from < requests.length; from += 35)
      await fixture.gateway.call('answerRequests', {
        items: requests.slice(from, from + 35).map(({ id, digest }) => ({ id, digest, answer: { kind: 'allow' } })),
      })
    const page = await open()
    await receipt(page, 'echo 69.').waitFor()
    expect(await receipt(page, 'echo 0.').count()).toBe(0)
    await button(page, 'Show earlier').click()
    await receipt(page, 'echo 0.').waitFor()
  })

  it('the audit log can be used with the keyboard, and keeps its filter when the person goes back', async () => {
    const asker = await fixture.openAsker('api')
    await fixture.answer(await asker.ask(asks.command('npm run keys')), { kind: 'deny' })
    await fixture.answer(await asker.ask(asks.command('npm run more')))
    const page = await open()
    await receipt(page, 'npm run keys').waitFor()
    const focused = () => page.evaluate(() => document.activeElement?.closest('summary')?.textContent ?? '')
    await page.keyboard.press('j')
    expect(await focused()).toContain('npm run more')
    await page.keyboard.press('j')
    expect(await focused()).toContain('npm run keys')
    await page.keyboard.press('Enter')
    await page.locator('details.receipt[open]').waitFor()
    await choose(page, 'Denied')
    await page.getByRole('searchbox', { name: 'Search the audit log' }).fill('keys')
    await receipt(page, 'npm run more').waitFor({ state: 'detached' })
    await page.waitForFunction(() => JSON.stringify(history.state).includes('keys'))
    await page.goto(`${fixture.gateway.url}/#/sessions`)
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await page.goBack()
    await receipt(page, 'npm run keys').waitFor()
    await expect.poll(() => page.getByRole('searchbox', { name: 'Search the audit log' }).inputValue()).toBe('keys')
    expect(await receipt(page, 'npm run more').count()).toBe(0)
  })
})

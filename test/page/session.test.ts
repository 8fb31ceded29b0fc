// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions, phone } from '../support/browser.ts'
import { asks, type TestAgent } from '../support/request-samples.ts'
import { button, cardOf, click, pressKey, receipt, setUpPageFixture } from './page-fixture.ts'

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function log(page: Page): Locator {
  return page.getByRole('log', { name: 'Transcript' })
}

/** Waits until scrolling has stopped. A `scrollend` event can’t be used, because it does not fire if scrolling stopped before the call. */
function waitUntilScrollEnds(page: Page): Promise<void> {
  return log(page).evaluate(async box => {
    for (let before = -1; before !== box.scrollTop; ) {
      before = box.scrollTop
      for (let frame = 0; frame < 10; frame++) await new Promise(requestAnimationFrame)
    }
  })
}

/** Returns the names of all attachments stored in this browser. */
function storedAttachments(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    () =>
      new Promise(done => {
        const opening = indexedDB.open('holdpoint')
        opening.onsuccess = () => {
          const all = opening.result.transaction('unsent-files').objectStore('unsent-files').getAll()
          all.onsuccess = () =>
            done(all.result.flatMap(({ files }) => files.map(({ name }: { readonly name: string }) => name)))
        }
      }),
  )
}

describe.skipIf(hasNoBrowser())('the session screen', () => {
  const fixture = setUpPageFixture({ runner: 'inline' })

  async function look(id: string, options: OpenOptions = {}): Promise<Page> {
    const page = await fixture.openPage(options)
    await page.goto(`${fixture.gateway.url}/#/sessions/${id}`)
    await page.locator('.session-header').waitFor()
    return page
  }
  async function rehearse(options: object = { paceMs: 0, only: 'approval' }) {
    const session = await fixture.gateway.call('startSession', {
      driver: 'rehearsal',
      title: 'Rehearsal',
      prompt: 'Begin',
      options: { ...options },
    })
    return { session, page: await look(session.id) }
  }
  const say = ({ session }: TestAgent, ...items: Parameters<typeof fixture.gateway.call<'appendEvents'>>[1]['items']) =>
    fixture.gateway.call('appendEvents', { id: session.id, items })

  it('the session screen shows the agent’s text while it streams, and then the finished message', async () => {
    const asker = await fixture.openAsker()
    const page = await look(asker.session.id)
    const delta = { type: 'message.delta', block: 'b1' } as const
    const begun = '# Report\n\nThe first **bold'
    await say(asker, { ...delta, offset: 0, text: begun })
    await log(page).getByRole('heading', { name: 'Report' }).waitFor()
    await say(asker, { ...delta, offset: begun.length, text: '** words' })
    await log(page).locator('strong', { hasText: 'bold' }).waitFor()
    await expect.poll(() => log(page).locator('.streaming').count()).toBe(1)
    await say(asker, { type: 'message.added', block: 'b1', text: '# Report\n\nAll of it.' })
    await log(page).getByText('All of it.').waitFor()
    await log(page).locator('.streaming').waitFor({ state: 'detached' })
    await expect.poll(() => log(page).getByRole('heading', { name: 'Report' }).count()).toBe(1)
  })

  it('the session screen collapses tool calls, expands a tool call to its input and result, and indents the tool calls of subagents', async () => {
    const asker = await fixture.openAsker()
    const page = await look(asker.session.id)
    const input = { command: 'npm test' }
    await say(
      asker,
      { type: 'tool.started', block: 't1', tool: 'Bash', input },
      { type: 'tool.finished', block: 't1', ok: true, output: '12 passed' },
      { type: 'message.added', block: 'm1', text: 'I look at it.', agentPath: ['reviewer'] },
      { type: 'tool.started', block: 't2', tool: 'Read', input: { file_path: '/a.ts' }, agentPath: ['reviewer'] },
      { type: 'tool.finished', block: 't2', ok: false, output: 'no such file', agentPath: ['reviewer'] },
    )
    const call = log(page).getByRole('button', { name: /Bash.*npm test/ })
    expect(await call.getAttribute('aria-expanded')).toBe('false')
    expect(await log(page).getByText('12 passed').count()).toBe(0)
    await call.click()
    await log(page).getByText('12 passed').waitFor()
    await log(page).getByText('reviewer').first().waitFor()
    await expect
      .poll(() => log(page).locator('.transcript-entry', { hasText: 'I look at it.' }).locator('.indent-line').count())
      .toBe(1)
    await log(page)
      .getByRole('button', { name: /Read.*failed/ })
      .waitFor()
  })

  it('the session screen shows pending requests beside the composer, which stays usable while a person answers them', async () => {
    const { page, session } = await rehearse()
    const card = page.getByRole('region', { name: 'Waiting for you' }).getByRole('article')
    await card.waitFor()
    const composer = page.getByRole('textbox', { name: 'Message to the agent' })
    await composer.fill('and then?')
    await page.getByText('The agent will read this after you answer the pending request.').waitFor()
    await composer.press('Control+Enter')
    await log(page).getByText('and then?').waitFor()
    expect(await composer.inputValue()).toBe('')
    await click(page, button(card, 'Allow once'))
    await receipt(page, 'allowed by you', 'delivered').waitFor()
    await card.getByText('What should I do with it?').waitFor()
    await card.getByRole('radio', { name: 'Keep it' }).check()
    await click(page, button(card, 'Send answer'))
    await log(page).getByText('You chose “Keep it”.').waitFor()
    expect((await fixture.gateway.call('getSession', { id: session.id })).pending).toBe(0)
  })

  it('in the composer, Enter starts a new line, Ctrl+Enter sends, and a long text is shown in full after the sheet on a phone is lowered', async () => {
    const agent = await fixture.openAsker('composer')
    const page = await fixture.openPage(phone)
    await page.goto(`${fixture.gateway.url}/#/sessions/${agent.session.id}`)
    const composer = page.getByRole('textbox', { name: 'Message to the agent' })
    await composer.fill('one')
    for (const line of ['two', 'three', 'four']) {
      await composer.press('Enter')
      await composer.pressSequentially(line)
    }
    expect(await composer.inputValue()).toBe('one\ntwo\nthree\nfour')
    const request = await agent.ask(asks.command())
    await page.getByRole('button', { name: 'Waiting for you 1' }).waitFor()
    await page.reload()
    await cardOf(page, request).waitFor()
    await button(page, 'Lower').tap()
    await composer.waitFor()
    expect(await composer.evaluate(it => it.scrollHeight <= it.clientHeight + 1)).toBe(true)
    await composer.press('Control+Enter')
    await log(page).getByText('four').waitFor()
    expect(await composer.inputValue()).toBe('')
  })

  it('the session screen keeps an unsent message when the person leaves or reloads the page', async () => {
    const { page } = await rehearse()
    const composer = page.getByRole('textbox', { name: 'Message to the agent' })
    await composer.fill('not yet')
    await page.getByRole('link', { name: 'Inbox' }).first().click()
    await page.goBack()
    await expect.poll(() => composer.inputValue()).toBe('not yet')
    await page.reload()
    await expect.poll(() => composer.inputValue()).toBe('not yet')
  })

  it('the session screen keeps attachments after a reload until they are sent', async () => {
    const { page } = await rehearse()
    const composer = page.getByRole('textbox', { name: 'Message to the agent' })
    const attached = page.getByRole('list', { name: 'Attachments' })
    for (const name of ['a.md', 'b.md'])
      await page.getByLabel('Files').setInputFiles({ name, mimeType: 'text/markdown', buffer: Buffer.from(name) })
    await attached.getByText('b.md').first().waitFor()
    // Reload immediately after the click, without waiting for the page to save.
    const reloaded = page.waitForEvent('load')
    await attached.getByRole('button', { name: 'Remove a.md' }).evaluate((remove: HTMLButtonElement) => {
      remove.click()
      location.reload()
    })
    await reloaded
    await attached.getByText('b.md').first().waitFor()
    await expect.poll(() => attached.getByRole('listitem').count()).toBe(1)
    await composer.fill('with a file')
    await composer.press('Control+Enter')
    await log(page).getByText('with a file').waitFor()
    await attached.waitFor({ state: 'detached' })
    await page.reload()
    await log(page).getByText('with a file').waitFor()
    expect(await attached.count()).toBe(0)
  })

  it('the session screen keeps a file that is attached before the stored attachments are loaded', async () => {
    const { page } = await rehearse()
    const attached = page.getByRole('list', { name: 'Attachments' })
    const add = (name: string) =>
      page.getByLabel('Files').setInputFiles({ name, mimeType: 'text/markdown', buffer: Buffer.from(name) })
    await add('a.md')
    await attached.getByText('a.md').first().waitFor()
    // Another tab blocks the database, so loading the stored files takes a while.
    const other = await fixture.openTab(page)
    const busy = other.evaluate(
      () =>
        new Promise<void>(done => {
          const opening = indexedDB.open('holdpoint')
          opening.onsuccess = () => {
            const files = opening.result.transaction('unsent-files', 'readwrite').objectStore('unsent-files')
            let over = false
            addEventListener('click', () => {
              over = true
            })
            const goOn = () => {
              if (over) done()
              else files.count().onsuccess = goOn
            }
            goOn()
            document.title = 'busy'
          }
        }),
    )
    await other.waitForFunction(() => document.title === 'busy')
    await page.reload()
    await add('b.md')
    await attached.getByText('b.md').first().waitFor()
    await expect.poll(() => attached.getByRole('listitem').count()).toBe(1)
    await other.evaluate(() => dispatchEvent(new Event('click')))
    await busy
    await attached.getByText('a.md').first().waitFor()
    await expect.poll(() => storedAttachments(page)).toEqual(['a.md', 'b.md'])
  })

  it('the session screen shows no drafts of another person who uses the same browser, and deletes drafts at sign-out', async () => {
    const { session } = await rehearse()
    const page = await look(session.id, { expectedErrors: /401/ })
    const bobs = (await fixture.gateway.call('addToken', { role: 'person', name: 'Bob' })).secret
    const composer = page.getByRole('textbox', { name: 'Message to the agent' })
    const attached = page.getByRole('list', { name: 'Attachments' })
    const card = page.locator('article.card')
    const enter = async (token: string) => {
      const { code } = await fixture.gateway.callAs(token)('makeLink', {})
      await page.goto(`${fixture.gateway.url}/?again#code=${code}`)
      await page.getByRole('button', { name: /^Sign in as/ }).click()
      await page.getByRole('navigation').first().waitFor()
      await page.goto(`${fixture.gateway.url}/#/sessions/${session.id}`)
      await composer.waitFor()
      await card.waitFor()
    }
    await page.getByLabel('Files').setInputFiles({ name: 'a.md', mimeType: 'text/markdown', buffer: Buffer.from('a') })
    await attached.getByText('a.md').first().waitFor()
    await composer.fill('private to the agent')
    await button(card, 'Deny…').click()
    await card.getByRole('textbox').fill('private reason')
    await enter(bobs)
    expect(await composer.inputValue()).toBe('')
    await button(card, 'Deny…').click()
    expect(await card.getByRole('textbox').inputValue()).toBe('')
    expect(await attached.count()).toBe(0)
    await composer.fill('of Bob')

    await enter(fixture.gateway.token)
    await expect.poll(() => composer.inputValue()).toBe('private to the agent')
    await attached.getByText('a.md').first().waitFor()
    await expect.poll(() => card.getByRole('textbox').inputValue()).toBe('private reason')
    await page.locator('button.user-menu-button').click()
    await button(page, 'Sign out').click()
    await page.getByText('This browser is not signed in').waitFor()
    expect(await storedAttachments(page)).toEqual([])
    const left = await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))
    expect(left).not.toContain('private')
    expect(left, 'that is another’s').toContain('of Bob')
  })

  it('the session screen sends attachments even if the browser cannot store them', async () => {
    const { session } = await rehearse()
    const page = await fixture.openPage({
      before: it =>
        it.addInitScript(() =>
          Object.defineProperty(globalThis, 'indexedDB', {
            get: () => {
              throw new DOMException('refused', 'SecurityError')
            },
          }),
        ),
    })
    await page.goto(`${fixture.gateway.url}/#/sessions/${session.id}`)
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'a.md', mimeType: 'text/markdown', buffer: Buffer.from('# a') })
    await page.getByRole('list', { name: 'Attachments' }).getByText('a.md').first().waitFor()
    await page.getByRole('textbox', { name: 'Message to the agent' }).press('Control+Enter')
    await log(page).getByText('a.md').first().waitFor()
  })

  it('the session screen interrupts the turn and cancels its pending request after a confirmation', async () => {
    const { page } = await rehearse()
    const card = page.getByRole('region', { name: 'Waiting for you' }).getByRole('article')
    await card.waitFor()
    // The key and the button both ask for confirmation if a request would be canceled.
    await pressKey(page, 'i')
    const confirmation = page.getByRole('group', { name: 'Interrupt this turn?' })
    await confirmation.getByText('This stops the turn and cancels 1 pending request.').waitFor()
    await page.keyboard.press('Enter')
    await confirmation.waitFor({ state: 'detached' })
    await expect.poll(() => card.count()).toBe(1)
    await page.getByRole('button', { name: 'Interrupt' }).click()
    await button(confirmation, 'Interrupt').click()
    await receipt(page, 'canceled: turn interrupted').waitFor()
    await log(page)
      .getByText(/^Turn interrupted · /)
      .waitFor()
  })

  it('a click on Interrupt is ignored right after the button has replaced an open confirmation', async () => {
    const { page, session } = await rehearse({ paceMs: 5, only: 'approval' })
    await page.getByRole('region', { name: 'Waiting for you' }).getByRole('article').waitFor()
    await page.getByRole('button', { name: 'Interrupt' }).click()
    await page.getByRole('group', { name: 'Interrupt this turn?' }).waitFor()
    const clicked = page.evaluate(
      () =>
        new Promise<void>(done => {
          new MutationObserver((_, observer) => {
            const all = [...document.querySelectorAll<HTMLElement>('.session-actions > button')]
            const interrupt = all.find(({ textContent }) => textContent?.startsWith('Interrupt'))
            if (!interrupt) return
            observer.disconnect()
            interrupt.click()
            done()
          }).observe(document.body, { childList: true, subtree: true })
        }),
    )
    const [request] = (await fixture.gateway.call('listRequests', { session: session.id })).items
    if (!request) throw new Error('The rehearsal has asked nothing.')
    await fixture.answer(request)
    await clicked
    await page.getByText('The list just changed. Press again to confirm.').waitFor()
  })

  it('the session screen says in the End confirmation how many pending requests will be canceled', async () => {
    const { page } = await rehearse()
    await page.getByRole('region', { name: 'Waiting for you' }).getByRole('article').waitFor()
    await button(page, 'End this session…').click()
    const confirmation = page.getByRole('group', { name: 'End this session?' })
    await confirmation.getByText('This stops the agent and cancels 1 pending request.').waitFor()
  })

  it('the session screen changes the mode, the model and the title of the session', async () => {
    const { page, session } = await rehearse()
    const now = () => fixture.gateway.call('getSession', { id: session.id })
    await page.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('acceptEdits')
    await expect.poll(async () => (await now()).mode).toBe('acceptEdits')
    await page.getByLabel('Model').fill('the-large-one')
    await page.getByLabel('Model').press('Enter')
    await expect.poll(async () => (await now()).model).toBe('the-large-one')
    await page.getByRole('button', { name: 'Rehearsal', exact: true }).click()
    await page.getByLabel('Title').fill('Greetings')
    await page.getByLabel('Title').press('Enter')
    await page.getByRole('heading', { name: 'Greetings' }).waitFor()
    expect((await now()).title).toBe('Greetings')
  })

  it('the session screen attaches and sends files that are pasted, dropped or chosen in the file dialog, and refuses unsupported files', async () => {
    const { page, session } = await rehearse()
    const composer = page.getByRole('textbox', { name: 'Message to the agent' })
    const give = (how: 'paste' | 'drop', name: string, type: string) =>
      composer.evaluate(
        (field, [event, file, mediaType, base64]) => {
          const bytes = Uint8Array.from(atob(base64), char => char.charCodeAt(0))
          const data = new DataTransfer()
          data.items.add(new File([bytes], file, { type: mediaType }))
          const init = { bubbles: true, cancelable: true }
          field.dispatchEvent(
            event === 'paste'
              ? new ClipboardEvent('paste', { ...init, clipboardData: data })
              : new DragEvent('drop', { ...init, dataTransfer: data }),
          )
        },
        [how, name, type, pixel] as const,
      )
    await give('paste', 'pasted.png', 'image/png')
    await give('drop', 'dropped.png', 'image/png')
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# x') })
    const attached = page.getByRole('list', { name: 'Attachments' })
    await attached.getByText('notes.md').first().waitFor()
    await expect.poll(() => attached.getByRole('listitem').count()).toBe(3)
    // A file dropped outside the composer is also attached.
    await log(page).evaluate(place => {
      const data = new DataTransfer()
      data.items.add(new File(['# y'], 'missed.md', { type: 'text/markdown' }))
      place.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }))
    })
    await attached.getByRole('button', { name: 'Remove missed.md' }).click()
    await give('drop', 'tool.exe', 'application/x-msdownload')
    await page.getByText('tool.exe can’t be attached').waitFor()
    await attached.getByRole('button', { name: 'Remove dropped.png' }).click()
    await composer.fill('Look at these')
    await composer.press('Control+Enter')
    await log(page).getByText('Look at these').waitFor()
    await attached.waitFor({ state: 'detached' })
    await page.getByText('tool.exe can’t be attached').waitFor({ state: 'detached' })
    await expect.poll(() => log(page).locator('img').count()).toBe(1)
    const { items } = await fixture.gateway.call('listEvents', { id: session.id })
    const added = items.flatMap(event => (event.type === 'command.added' ? [event.value.body] : []))
    expect(added).toContainEqual(
      expect.objectContaining({
        text: 'Look at these',
        attachments: [
          expect.objectContaining({ type: 'image', mediaType: 'image/png', name: 'pasted.png' }),
          expect.objectContaining({ type: 'document', mediaType: 'text/plain', name: 'notes.md', bytes: 3 }),
        ],
      }),
    )
    expect(await log(page).locator('img').getAttribute('src')).toBe(`data:image/png;base64,${pixel}`)
  })

  it('the session screen opens at the newest entry, loads earlier entries when scrolled up, and keeps the scroll position', async () => {
    const asker = await fixture.openAsker()
    for (let page = 0; page < 5; page++)
      await say(
        asker,
        ...Array.from({ length: 200 }, (_, i) => ({
          type: 'message.added' as const,
          block: `b${page}-${i}`,
          text: `Line ${page * 200 + i}, with enough words to fill a row of the transcript.`,
        })),
      )
    const page = await look(asker.session.id)
    await log(page).getByText('Line 999,').waitFor()
    expect(await log(page).getByText('Line 0,').count()).toBe(0)
    const atEnd = () => log(page).evaluate(it => it.scrollHeight - it.scrollTop - it.clientHeight < 40)
    await expect.poll(atEnd).toBe(true)
    await say(asker, { type: 'message.added', block: 'new', text: 'One more line.' })
    await log(page).getByText('One more line.').waitFor()
    await expect.poll(atEnd, { message: 'it sticks to the end' }).toBe(true)

    await log(page).hover()
    await page.mouse.wheel(0, -3000)
    const newest = page.getByRole('button', { name: /Newest/ })
    await newest.waitFor()
    const place = () =>
      log(page).evaluate(it => {
        const top = it.getBoundingClientRect().top
        const rows = [...it.querySelectorAll('.transcript-entry')]
        const row = rows.find(each => each.getBoundingClientRect().top >= top)
        return `${row?.textContent} at ${Math.round((row?.getBoundingClientRect().top ?? 0) - top)}`
      })
    await waitUntilScrollEnds(page)
    const before = await place()
    await say(asker, { type: 'message.added', block: 'newer', text: 'And another.' })
    await page.getByRole('button', { name: /1 new/ }).waitFor()
    expect(await place()).toBe(before)

    const first = log(page).getByText('Line 0,')
    while ((await first.count()) === 0) {
      await page.mouse.wheel(0, -20_000)
      await page.evaluate(() => new Promise(requestAnimationFrame))
    }
    await log(page).getByText('The session starts here.').waitFor()
    await page.getByRole('button', { name: /1 new/ }).click()
    await log(page).getByText('And another.').waitFor()
    await expect.poll(atEnd).toBe(true)
  })

  it('the session screen ends the session after a confirmation', async () => {
    const { page, session } = await rehearse()
    await button(page, 'End this session…').click()
    await click(page, button(page, 'End the session'))
    await page.locator('.session-header').getByText('ended').waitFor()
    expect((await fixture.gateway.call('getSession', { id: session.id })).state).toBe('ended')
  })

  it('the session screen says that the session was not found if it does not exist', async () => {
    const page = await fixture.openPage({ expectedErrors: /404/ })
    await page.goto(`${fixture.gateway.url}/#/sessions/ses_00000000000000000000`)
    await page.getByRole('heading', { name: 'Session not found' }).waitFor()
  })

  it('the session screen shows resolved requests as receipts that expand to the request and the answer', async () => {
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command())
    await fixture.answer(request, { kind: 'deny', reason: 'not today' })
    const page = await look(asker.session.id)
    expect(await cardOf(page, request).count()).toBe(0)
    const line = receipt(page, 'npm run migrate', 'denied by you via api: not today')
    await line.locator('summary').click()
    await line.getByText(request.digest).waitFor()
  })
})

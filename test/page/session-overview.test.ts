/** The overview, the outline and the search of the session screen, and how it shows tool calls. */
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions, phone } from '../support/browser.ts'
import { asks, type TestAgent } from '../support/request-samples.ts'
import { button, cardOf, pressKey, setUpPageFixture } from './page-fixture.ts'

function log(page: Page): Locator {
  return page.getByRole('log', { name: 'Transcript' })
}
/** Waits until the page has drawn several frames. */
async function waitForFrames(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame)
  })
}
function overview(page: Page): Locator {
  return page.getByRole('region', { name: 'Overview' })
}

describe.skipIf(hasNoBrowser())('the overview of a session', () => {
  const fixture = setUpPageFixture()

  async function openSession({ session }: TestAgent, options: OpenOptions = {}): Promise<Page> {
    const page = await fixture.openPage(options)
    await page.goto(`${fixture.gateway.url}/#/sessions/${session.id}`)
    await page.locator('.session-header').waitFor()
    return page
  }
  type Item = Parameters<typeof fixture.gateway.call<'appendEvents'>>[1]['items'][number]
  const say = ({ session }: TestAgent, ...items: readonly Item[]) =>
    fixture.gateway.call('appendEvents', { id: session.id, items: [...items] })
  let calls = 0
  const used = (tool: string, input: object, output: string | null = 'ok'): readonly Item[] => {
    const block = `call-${calls++}`
    return [
      { type: 'tool.started', block, tool, input: input as never },
      { type: 'tool.finished', block, ok: true, output },
    ]
  }

  const messages = (name: string, count: number): readonly Item[] =>
    Array.from({ length: count }, (_, i) => ({ type: 'message.added', block: `${name}${i}`, text: `${name} ${i}` }))
  /** Returns how many pixels are below the visible part of the transcript. */
  const fromEnd = (page: Page) =>
    log(page).evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)

  it('the overview of a session shows changed files with counts and diffs, the to-do list, times and the cost', async () => {
    const agent = await fixture.openAsker('files', '/srv/app')
    await say(
      agent,
      ...used('Edit', {
        file_path: '/srv/app/src/greet.ts',
        old_string: 'const a = 1\nreturn a',
        new_string: 'const a = 2\nreturn a',
      }),
      ...used('Write', { file_path: '/srv/app/new.md', content: '# New\n' }),
      ...used('TodoWrite', {
        todos: [
          { content: 'Write it', status: 'completed', activeForm: 'Writing' },
          { content: 'Test it', status: 'in_progress', activeForm: 'Testing' },
        ],
      }),
      { type: 'turn.finished', ending: 'done', cost: 0.5 },
      { type: 'session.changed', repository: { root: '/srv/app', branch: 'feature/retry', commit: null } },
    )
    const page = await openSession(agent)
    await page.locator('.session-header').getByText('feature/retry').waitFor()
    await overview(page).getByText('2 files changed').waitFor()
    await overview(page).getByText('To-do list: 1 of 2 done').waitFor()
    await overview(page).getByText('Covers the whole session.').waitFor()
    await overview(page).getByText('$0.50').first().waitFor()
    const file = overview(page).getByRole('button', { name: /src\/greet\.ts.*1 line added, 1 removed/ })
    await file.click()
    await overview(page).locator('.diff-row.added', { hasText: 'const a = 2' }).waitFor()
    // The keyword of the code has its color, and the text is exact.
    await overview(page).locator('.diff-row.added .syntax-keyword', { hasText: 'const' }).waitFor()
    await button(overview(page), 'Show in the transcript').click()
    await log(page).locator('.transcript-entry.marked', { hasText: 'greet.ts' }).waitFor()
  })

  it('the overview of a session shows the tools of each agent in a readable form, and their input as JSON on demand', async () => {
    const agent = await fixture.openAsker()
    await say(
      agent,
      ...used('MultiEdit', {
        file_path: '/a.ts',
        edits: [
          { old_string: 'one', new_string: '1' },
          { old_string: 'two', new_string: '2' },
        ],
      }),
      ...used('apply_patch', { changes: [{ path: '/b.py', kind: 'update', diff: '@@ -1 +1 @@\n-x = 1\n+x = 2\n' }] }),
      ...used('Task', { description: 'Look around', prompt: 'Look at everything', subagent_type: 'explorer' }),
      ...used('WebFetch', { url: 'https://example.com/page', prompt: 'Sum it up' }),
      ...used('Grep', { pattern: 'needle', path: 'src', output_mode: 'content' }),
      ...used('Unknown', { strange: { value: 1 } }),
    )
    const page = await openSession(agent)
    const open = async (name: RegExp) => {
      await log(page).getByRole('button', { name }).click()
      return log(page).locator('.tool', { has: page.getByRole('button', { name }) })
    }
    const edits = await open(/MultiEdit/)
    await edits.locator('.diff-row.added', { hasText: '2' }).waitFor()
    expect(await edits.locator('.diff').count()).toBe(2)
    await button(edits, 'Input as JSON').click()
    await edits.getByText('"old_string": "one"').waitFor()
    await (await open(/apply_patch/)).locator('.diff-row.removed', { hasText: 'x = 1' }).waitFor()
    await (await open(/Task Look around/)).getByText('Look at everything').waitFor()
    await (await open(/WebFetch/)).getByText('Sum it up').waitFor()
    const search = await open(/Grep needle/)
    await search.getByText('Pattern').waitFor()
    await search.getByText('"output_mode": "content"').waitFor()
    await (await open(/Unknown/)).getByText('"strange"').waitFor()
  })

  it('the overview of a session searches the transcript, expands the tool call that contains the text, and jumps between matches', async () => {
    const agent = await fixture.openAsker()
    const filler = Array.from({ length: 400 }, (_, i) => ({
      type: 'message.added' as const,
      block: `f${i}`,
      text: `Filler ${i}`,
    }))
    await say(
      agent,
      { type: 'message.added', block: 'first', text: 'The NEEDLE at the start.' },
      ...used('Bash', { command: 'ls' }, 'a needle in the output'),
    )
    await say(agent, ...filler.slice(0, 200))
    await say(agent, ...filler.slice(200))
    const page = await openSession(agent)
    await log(page).getByText('Filler 399').waitFor()
    await pressKey(page, '/')
    await page.getByRole('searchbox', { name: 'Search the transcript' }).fill('needle')
    // The second page was not loaded before the search.
    await page.getByText('Covers the whole session.').first().waitFor()
    await page.getByText('2 of 2').waitFor()
    await log(page).locator('.marked').getByText('a needle in the output').waitFor()
    await page.getByRole('searchbox').press('Enter')
    await page.getByText('1 of 2').waitFor()
    await log(page).locator('.marked', { hasText: 'The NEEDLE at the start.' }).waitFor()
    expect(await page.evaluate(() => CSS.highlights.get('transcript-search')?.size)).toBeGreaterThan(0)
    await page.getByRole('searchbox').press('Escape')
    await page.getByRole('searchbox').waitFor({ state: 'detached' })
    expect(await page.evaluate(() => CSS.highlights.has('transcript-search'))).toBe(false)
  })

  it('the overview of a session outlines the turns, and jumps to requests in the transcript and to the next waiting request of another session', async () => {
    const other = await fixture.openAsker('other')
    const agent = await fixture.openAsker('outlined')
    const answered = await agent.ask(asks.command('echo answered'))
    await fixture.answer(answered)
    await say(
      agent,
      ...Array.from({ length: 100 }, (_, i) => ({
        type: 'message.added' as const,
        block: `m${i}`,
        text: `Later ${i}`,
      })),
    )
    const page = await openSession(agent)
    await overview(page)
      .getByRole('list', { name: 'Turns' })
      .getByRole('button', { name: 'echo answered allowed' })
      .waitFor()
    await log(page).getByText('Later 99').waitFor()
    await pressKey(page, 'R')
    await log(page).locator('.marked', { hasText: 'echo answered' }).waitFor()
    await pressKey(page, 'w')
    await page.getByText('No other request is waiting.').waitFor()
    const waiting = await other.ask(asks.command('echo waiting'))
    await page.locator('.sidebar').getByRole('link', { name: /other/ }).first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to' }).fill('next waiting')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(other.session.id))
    await cardOf(page, waiting).waitFor()
  })

  it('the overview of a session jumps to the next request after the entry that is visible, not after the request that the person opened before', async () => {
    const agent = await fixture.openAsker('scrolled')
    for (const name of ['first', 'second']) {
      await fixture.answer(await agent.ask(asks.command(`echo ${name}`)))
      await say(agent, ...messages(name, 100))
    }
    const page = await openSession(agent)
    await log(page).getByText('second 99').waitFor()
    await pressKey(page, 'R')
    await log(page).locator('.marked', { hasText: 'echo second' }).waitFor()
    await pressKey(page, 'R')
    await log(page).locator('.marked', { hasText: 'echo first' }).waitFor()
    await button(page, 'Newest').click()
    await expect.poll(() => fromEnd(page)).toBeLessThan(40)
    await pressKey(page, 'R')
    await log(page).locator('.marked', { hasText: 'echo second' }).waitFor()
  })

  it('the transcript continues to follow new messages after the person went to a turn that was already visible', async () => {
    const agent = await fixture.openAsker('short')
    await say(agent, ...messages('early', 3))
    const page = await openSession(agent)
    await overview(page).getByRole('list', { name: 'Turns' }).getByRole('button').first().click()
    await log(page).locator('.marked').waitFor()
    await waitForFrames(page)
    await say(agent, ...messages('late', 100))
    await log(page).getByText('late 99').waitFor()
    await expect.poll(() => fromEnd(page)).toBeLessThan(40)
  })

  it('the overview of a session is a sheet on a phone', async () => {
    const agent = await fixture.openAsker('phone', '/srv/app')
    await say(agent, ...used('Write', { file_path: '/srv/app/new.md', content: '# New\n' }))
    const page = await openSession(agent, phone)
    await button(page, 'Overview').tap()
    await overview(page).getByText('1 file changed').waitFor()
    await overview(page)
      .getByRole('button', { name: /new\.md/ })
      .tap()
    await button(overview(page), 'Show in the transcript').tap()
    await overview(page).waitFor({ state: 'detached' })
    await log(page).locator('.marked', { hasText: 'new.md' }).waitFor()
  })
})

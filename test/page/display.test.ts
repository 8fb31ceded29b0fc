/** Tests how a card shows an agent's text: nothing in it runs, it cannot be mistaken for Holdpoint's own text, and two requests that look the same can be distinguished. */
import type { Ask } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, openCard, rowOf, setUpPageFixture, visibleText } from './page-fixture.ts'

const markup = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(1)</script>',
  '![picture](http://127.0.0.1:9/picture.png)',
  '[link](javascript:alert(1))',
  '<svg onload=alert(1)><style>*{display:none}</style></svg>',
  '<b>'.repeat(500),
].join('\n\n')

const fakeControls = [
  '┌────────────────────┐',
  '│ ✓ Approved by admin │',
  '└────────────────────┘',
  '[ Allow once ]  [ Deny… ]',
  'Holdpoint: this request is safe.',
].join('\n')

function everywhere(text: string): readonly Ask[] {
  return [
    {
      kind: 'approval',
      tool: 'Bash',
      title: text.slice(0, 200),
      description: text,
      input: { command: text, description: text },
      cwd: '/src',
      editable: true,
      caution: { reason: text, blockedPath: text.slice(0, 200) },
    },
    {
      kind: 'questions',
      questions: [
        {
          id: 'q',
          header: text.slice(0, 20),
          question: text,
          options: [{ label: text.slice(0, 100), description: text, preview: text }],
          multiSelect: false,
          allowOther: true,
          secret: false,
        },
      ],
    },
    {
      kind: 'form',
      title: text.slice(0, 200),
      message: text,
      schema: {
        type: 'object',
        properties: { field: { type: 'string', title: text.slice(0, 100), description: text } },
      },
    },
    { ...asks.plan(), plan: text, input: { plan: text } } as Ask, // `asks.plan()` is an approval
  ]
}

describe.skipIf(hasNoBrowser())('an agent’s text', () => {
  const fixture = setUpPageFixture()

  it('D7: markup, scripts and pictures in an agent’s text are shown as text, and the page loads nothing from elsewhere', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const violations = await page.evaluateHandle(() => {
      const found: string[] = []
      document.addEventListener('securitypolicyviolation', event => found.push(event.violatedDirective))
      return found
    })
    for (const ask of everywhere(markup)) {
      const card = await openCard(page, await asker.ask(ask))
      await card.getByText('<img src=x onerror=alert(1)>').first().waitFor()
      expect(await card.locator('img, svg:not(.lucide), script, style, iframe, a[href^="javascript:"]').count()).toBe(0)
    }
    expect(await violations.jsonValue()).toEqual([])
  })

  it('D8: text that imitates Holdpoint has the background of agents’ text, where the page never shows a button', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    for (const ask of everywhere(fakeControls)) {
      const card = await openCard(page, await asker.ask(ask))
      const outside = await card.evaluate(
        (element, fakes) => {
          const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
          const texts: string[] = []
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const isAgents = node.parentElement?.closest('.agent-background, .code-block, .diff')
            if (!isAgents && fakes.some(fake => node.textContent?.includes(fake))) texts.push(node.textContent ?? '')
          }
          return texts
        },
        ['Approved by admin', '[ Allow once ]', 'Holdpoint: this'],
      )
      expect(outside).toEqual([])
      expect(await card.locator(':is(.agent-background, .code-block, .diff) button').count()).toBe(0)
    }
  })

  it('D9: the command that runs is shown before the agent’s description of it, which is labeled', async () => {
    const page = await fixture.openPage()
    const ask: Ask = {
      ...(asks.command('rm -rf build') as Extract<Ask, { kind: 'approval' }>), // `asks.command` returns an approval
      title: 'List the files',
      description: 'Only lists files.',
    }
    const card = cardOf(page, await (await fixture.openAsker()).ask(ask))
    await card.waitFor()
    const text = await visibleText(card)
    expect(text.indexOf('rm -rf build')).toBeGreaterThan(-1)
    expect(text.indexOf('rm -rf build')).toBeLessThan(text.indexOf('The agent says:'))
    expect(text.indexOf('The agent says:')).toBeLessThan(text.indexOf('Only lists files.'))
  })

  it('D13: on a page that is out of date, the buttons of an answered request disappear, and a late answer is refused', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    await button(cardOf(page, request), 'Allow once').waitFor()
    await fixture.answer(request, { kind: 'deny' })
    await cardOf(page, request).waitFor({ state: 'detached' })
    await expect(fixture.answer(request)).rejects.toMatchObject({ code: 'already_resolved' })
  })

  it('D15: two requests with the same text can be distinguished by session, folder and time', async () => {
    const page = await fixture.openPage()
    for (const [title, cwd] of [
      ['first agent', '/src/one'],
      ['second agent', '/src/two'],
    ]) {
      const request = await (await fixture.openAsker(title, cwd)).ask({ ...asks.command(), cwd } as Ask) // a command is an approval
      // The page may learn about the request before it has loaded the session.
      for (const text of [title, cwd]) await expect.poll(() => visibleText(rowOf(page, request))).toContain(text)
      const header = (await openCard(page, request)).locator('.card-header')
      const text = await visibleText(header)
      expect(text).toContain(title)
      expect(text).toContain(cwd)
      expect(await header.locator('time').count()).toBe(1)
    }
  })

  it('the rows of a session keep every space of a command', async () => {
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command('echo a  b'))
    await asker.ask(asks.command('echo c'))
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    const summary = rowOf(page, request).locator('.one-line')
    await summary.waitFor()
    expect(await summary.evaluate(it => getComputedStyle(it).whiteSpace)).toBe('pre')
  })
})

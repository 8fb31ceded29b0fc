/** Tests agents' text with Hebrew and Arabic letters: the browser draws text that is executed in stored order on every surface (F7, D3, G9). */
import type { Ask, FormSchema } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot resolve the exports of playwright-core
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions } from '../support/browser.ts'
import { asks, type TestAgent } from '../support/request-samples.ts'
import {
  expectRightToLeft,
  expectStoredOrder,
  expectStoredOrderInField,
  expectWordOrder,
  glyphsOf,
} from './glyph-order.ts'
import { button, cardOf, openCard, receipt, rowOf, setUpPageFixture } from './page-fixture.ts'

const command = 'cat אבג > דהו'
const path = '/srv/אבג/דהו'
const arabic = 'بيت > باب ١٢/٣٤'
/** A label in two directions, whose words must keep their order. */
const label = 'Keep אבג > דהו'

const wide = { viewport: { width: 1440, height: 900 } } as const
const narrow = { viewport: { width: 320, height: 640 } } as const
const variants: readonly (readonly [string, OpenOptions])[] = [
  ['1440 px wide, light', { ...wide, colorScheme: 'light' }],
  ['320 px wide, dark', { ...narrow, colorScheme: 'dark' }],
]

const approval = { kind: 'approval', cwd: '/src/api', editable: true, title: 'x' } as const

interface Surface {
  readonly name: string
  readonly ask: Ask
  /** The texts that the surface shows, each with the element that contains it. */
  readonly exact?: readonly (readonly [text: string, selector: string])[]
  readonly labels?: readonly (readonly [text: string, selector: string])[]
}

const surfaces: readonly Surface[] = [
  {
    name: 'a command, its folder and its other parameters',
    ask: { ...approval, tool: 'Bash', cwd: path, input: { command, [path]: arabic, list: ['א/ב', 'ג/ד'] } },
    exact: [
      [command, 'pre'],
      [path, '.action-line .folder'],
      [path, '.field-list dt'],
      [arabic, '.field-list dd .value'],
      ['א/ב', '.value-list'],
      ['ג/ד', '.value-list'],
    ],
  },
  {
    name: 'the input of a tool as fields, and the name of the tool',
    ask: {
      ...approval,
      tool: 'tool/אב/גד',
      input: { short: path, long: `${arabic} `.repeat(20), nested: { א: [command] } },
    },
    exact: [
      ['tool/אב/גד', 'h3'],
      [path, '.value'],
      [arabic, '.stacked pre'],
      [`"א": [\n    "${command}"`, '.field-row:last-child pre'],
    ],
  },
  {
    name: 'the name of a tool from an MCP server',
    ask: { ...approval, tool: 'mcp__שרת/אב__כלי/גד', input: {} },
    exact: [
      ['כלי/גד', 'h3'],
      ['שרת/אב', 'h3'],
    ],
  },
  {
    name: 'a changed file',
    ask: {
      ...approval,
      tool: 'Edit',
      input: { file_path: path, old_string: `a\n${command}\nb`, new_string: `a\n${arabic}\nb` },
    },
    exact: [
      [path, '.file-header'],
      [command, '.removed .line'],
      [arabic, '.added .line'],
    ],
  },
  {
    name: 'a new file with a very long line',
    ask: { ...approval, tool: 'Write', input: { file_path: path, content: `${`${command} `.repeat(600)}\n${arabic}` } },
    exact: [
      [command, '.added .line'],
      [arabic, '.added:last-child .line'],
    ],
  },
  {
    name: 'a path that needs permission, and a long folder',
    ask: {
      ...approval,
      tool: 'Bash',
      cwd: `/srv/${'folder/'.repeat(8)}אבג/דהו`,
      input: { command: 'ls' },
      caution: { blockedPath: path },
    },
    exact: [
      [path, '.blocked-path'],
      ['אבג/דהו', '.card-rows .folder'],
    ],
  },
  {
    name: 'options of a question',
    ask: {
      kind: 'questions',
      questions: [
        {
          id: 'q',
          header: label,
          question: 'Which?',
          options: [{ label, preview: command }, { label: 'x' }],
          multiSelect: false,
          allowOther: true,
          secret: false,
        },
      ],
    },
    exact: [[command, '.preview.shown pre']],
    labels: [
      [label, '.chip'],
      [label, '.choice-text'],
    ],
  },
  {
    name: 'a form',
    ask: {
      kind: 'form',
      title: label,
      message: '',
      schema: {
        type: 'object',
        properties: { x: { type: 'string', title: label, oneOf: [{ const: path, title: label }, { const: 'b' }] } },
      },
    },
    exact: [[path, '.choice-value']],
    labels: [
      [label, '.form-intro'],
      [label, '.field-title'],
      [label, '.choice-text'],
    ],
  },
]

async function expectSurface(card: Locator, { exact = [], labels = [], name }: Surface): Promise<void> {
  for (const [text, selector] of exact)
    await expectStoredOrder(
      card.locator(selector).filter({ hasText: text.split('\n')[0] ?? '' }),
      text,
      `${name}: ${selector}`,
    )
  for (const [text, selector] of labels)
    await expectWordOrder(card.locator(selector).filter({ hasText: text }), text, `${name}: ${selector}`)
}

describe.skipIf(hasNoBrowser())('F7 D3: right-to-left letters', () => {
  const fixture = setUpPageFixture()
  const say = ({ session }: TestAgent, ...items: Parameters<typeof fixture.gateway.call<'appendEvents'>>[1]['items']) =>
    fixture.gateway.call('appendEvents', { id: session.id, items })

  it('F7: expectStoredOrder fails for text that is drawn in another order', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command(command))
    const code = cardOf(page, request).locator('pre')
    await expectStoredOrder(code, command)
    await code.evaluate(element => element.classList.remove('stored-order'))
    await expect(expectStoredOrder(code, command)).rejects.toThrow()
    expect((await glyphsOf(code, 'אבג')).map(glyph => glyph.char)).toEqual(['א', 'ב', 'ג'])
  })

  describe.each(variants)('text order on a page %s', (_, options) => {
    it('F7: right-to-left letters are drawn in stored order on the cards of all kinds of requests', async () => {
      const page = await fixture.openPage(options)
      const asker = await fixture.openAsker()
      for (const surface of surfaces) {
        const request = await asker.ask(surface.ask)
        await expectSurface(await openCard(page, request), surface)
        await fixture.gateway.call('withdrawRequest', { id: request.id })
      }
    })

    it('F7: a remembered command, an edited command, JSON and its changes are drawn in stored order', async () => {
      const page = await fixture.openPage(options)
      const suggestions = [{ id: 's', label: command, scope: 'session' }]
      const ask: Ask = { ...approval, tool: 'Bash', input: { command }, suggestions }
      const card = await openCard(page, await (await fixture.openAsker()).ask(ask))
      await button(card, 'Always…').click()
      await expectStoredOrder(card.locator('.card-panel .value'), command, 'a suggestion')
      await button(card, 'Back').click()
      await button(card, 'Edit…').click()
      const field = card.getByLabel('(this is what will run)')
      await expectStoredOrderInField(field)
      await field.fill(`${command} ${arabic}`)
      await expectStoredOrder(card.locator('.diff .added .line'), arabic, 'the changes')
    })

    it('F7: the preset of a form field and the text of a select are drawn in stored order', async () => {
      const page = await fixture.openPage(options)
      const many = ['א/ב', 'c', 'd', 'e', 'f', 'g', 'h']
      const schema: FormSchema = {
        type: 'object',
        properties: {
          preset: { type: 'string', title: 'Preset', default: command },
          link: { type: 'string', title: 'Link', format: 'uri', default: 'https://example.com/אבג/דהו' },
          pick: { type: 'string', title: 'Pick', enum: many, default: 'א/ב' },
          free: { type: 'string', title: 'Free' },
        },
      }
      const ask: Ask = { kind: 'form', title: 'Form', message: '', schema }
      const card = await openCard(page, await (await fixture.openAsker()).ask(ask))
      await expectStoredOrderInField(card.getByLabel('Preset'))
      await expectStoredOrderInField(card.getByLabel('Link'))
      await expectStoredOrder(card.locator('.exact-value', { hasText: 'https' }), 'https://example.com/אבג/דהו')
      const select = card.getByLabel('Pick')
      expect(await select.locator('option').allTextContents()).toContain('\\u{5d0}/\\u{5d1}')
      await expect
        .poll(() =>
          select.evaluate(element => [getComputedStyle(element).unicodeBidi, getComputedStyle(element).direction]),
        )
        .toEqual(['bidi-override', 'ltr'])
      // Text that a person types has the direction of its first letter.
      await card.getByLabel('Free').fill('שלום')
      expect(await card.getByLabel('Free').evaluate(element => getComputedStyle(element).direction)).toBe('rtl')
    })

    it('F7: receipts, the audit log, the session list and the transcript are drawn in stored order', async () => {
      const asker = await fixture.openAsker(label, path)
      const page = await fixture.openPage(options)
      const denied = await asker.ask(asks.command(command))
      const pending = await asker.ask(asks.command(arabic))
      const row = rowOf(page, denied)
      await expectStoredOrder(row.locator('.row-what'), command, 'the command of a row')
      await expectWordOrder(row.locator('.row-session'), label, 'the session of a row')
      await expectStoredOrder(row.locator('.path-tail'), 'אבג/דהו', 'the last folders of a row')
      await fixture.answer(denied, { kind: 'deny', reason: label })
      await expectStoredOrder(receipt(page, command).locator('.receipt-what'), command, 'a receipt')
      await expectWordOrder(receipt(page, command).locator('.receipt-outcome'), label, 'the reason in a receipt')
      const card = await openCard(page, pending)
      await expectWordOrder(card.locator('.asker-session'), label, 'the session of a card')
      await expectStoredOrder(card.locator('.path-line'), path, 'the folder of a card')
      await page.goto(`${fixture.gateway.url}/#/audit`)
      await expectStoredOrder(receipt(page, command).locator('.receipt-what'), command, 'an entry of the audit log')
      await page.goto(`${fixture.gateway.url}/#/sessions`)
      await expectWordOrder(page.locator('.session-row .row-title', { hasText: label }), label, 'a row of the list')
      await expectStoredOrder(page.locator('.sessions .path-line', { hasText: 'אבג' }), path, 'a folder of the list')
      await say(
        asker,
        { type: 'tool.started', block: 'c1', tool: 'Bash', input: { command }, agentPath: [label] },
        { type: 'tool.finished', block: 'c1', ok: true, output: arabic, agentPath: [label] },
        { type: 'message.added', block: 'b1', text: `Run \`${command}\`:\n\n\`\`\`sh\n${arabic}\n\`\`\`` },
      )
      await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
      await expectTranscript(page)
    })
  })

  async function expectTranscript(page: Page): Promise<void> {
    await expectWordOrder(page.locator('.header-title'), label, 'the title of the session')
    await expectStoredOrder(page.locator('.session-header .path-line'), path, 'the folder of the session')
    await expectStoredOrder(page.locator('.tool-about'), command, 'a tool call')
    await expectWordOrder(page.locator('.entry-path'), label, 'the name of a subagent')
    await expectStoredOrder(page.locator('.code-span'), command, 'code in a sentence')
    await expectStoredOrder(page.locator('.code-figure pre'), arabic, 'a code block')
    // On a narrow screen, the transcript lists pending requests only while the sheet that shows them is lowered.
    const lower = page.getByRole('button', { name: 'Lower', exact: true })
    if ((await lower.count()) > 0) await lower.click()
    await expectStoredOrder(page.locator('.request-line-summary'), arabic, 'a pending request')
    // A click while the transcript is still being loaded may have no effect.
    const openDetail = async () => {
      if ((await page.locator('.tool-detail').count()) === 0) await page.locator('.tool-line').click()
      return page.locator('.tool-detail').count()
    }
    await expect.poll(openDetail).toBe(1)
    await expectStoredOrder(page.locator('.tool-detail pre').first(), command, 'the command of a tool call')
    await expectStoredOrder(page.locator('.tool-detail pre').last(), arabic, 'the result of a tool call')
  }

  it('F7: names in the sidebar and in the palette keep the order of their words', async () => {
    await fixture.openAsker(label, path)
    const page = await fixture.openPage()
    await expectWordOrder(page.locator('.sidebar .nav-name', { hasText: label }), label)
    await page.keyboard.press('Control+k')
    await expectWordOrder(page.locator('.palette .nav-name', { hasText: label }), label)
  })

  it('F7: no tooltip, placeholder or hidden label mixes directions unescaped', async () => {
    const asker = await fixture.openAsker(label, path)
    const page = await fixture.openPage()
    const ask: Ask = { ...approval, tool: 'tool/אב', cwd: path, input: { command } }
    await openCard(page, await asker.ask(ask, { agentPath: [label] }))
    const attributes = await page.evaluate(() =>
      [...document.querySelectorAll('*')].flatMap(element =>
        ['title', 'placeholder', 'aria-label', 'alt'].flatMap(name => element.getAttribute(name) ?? []),
      ),
    )
    const mixed = attributes.filter(text => /[\u0590-\u08ff]/.test(text))
    expect(mixed).toEqual([])
    expect(attributes.join('\n')).toContain('\\u{5d0}')
    expect(await page.title()).not.toMatch(/[\u0590-\u08ff]/)
  })

  it('F7: ordinary Hebrew and Arabic prose reads from right to left, with its own punctuation', async () => {
    const asker = await fixture.openAsker('שלום עולם', '/src')
    const page = await fixture.openPage()
    const question = {
      id: 'q',
      header: 'שאלה',
      question: 'האם למחוק את הקובץ (הישן)?',
      multiSelect: false,
      allowOther: false,
    }
    const ask: Ask = {
      kind: 'questions',
      questions: [{ ...question, options: [{ label: 'כן, למחוק' }, { label: 'לא' }], secret: false }],
    }
    const card = await openCard(page, await asker.ask(ask))
    await expectRightToLeft(card.locator('.question-text .prose-line'), 'האם למחוק את הקובץ (הישן)?')
    await expectRightToLeft(card.locator('.option-button').first(), 'כן, למחוק')
    await expectRightToLeft(card.locator('.asker-session'), 'שלום עולם')
    await say(asker, { type: 'message.added', block: 'b1', text: 'مرحبا بالعالم، كيف الحال؟\n\n- واحد\n- اثنان' })
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    const paragraph = page.locator('.markdown p')
    await expectRightToLeft(paragraph, 'مرحبا بالعالم')
    expect(await paragraph.evaluate(element => getComputedStyle(element).direction)).toBe('rtl')
    await expectRightToLeft(page.locator('.markdown li').first(), 'واحد')
  })

  it('F7: in an English sentence, brackets and signs between Hebrew words are not mirrored, and the words keep their positions', async () => {
    const asker = await fixture.openAsker()
    const page = await fixture.openPage()
    const ask: Ask = {
      ...approval,
      tool: 'Bash',
      input: { command: 'ls' },
      description: 'This runs cat אבג > דהו for you',
    }
    const card = await openCard(page, await asker.ask(ask))
    await expectWordOrder(card.locator('.agent-says .prose-line'), 'cat אבג > דהו for')
    await say(asker, { type: 'message.added', block: 'b1', text: 'This **runs** cat אבג > דהו for you' })
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await expectWordOrder(page.locator('.markdown p'), 'cat אבג > דהו for')
  })
})

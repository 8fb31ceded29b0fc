// An agent that plays what it is told: its message is a script of things to say and to ask, as JSON. What it was answered it says behind an @.
import { all, approval, choice, defineAgent, form, text } from '@holdpoint/drivers'

const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 0 } }, required: ['n'] }
const askings = {
  approval: ({ name, cancel }) => approval(`May I ${name}?`, cancel ? { onReject: 'cancel' } : {}),
  choice: ({ name, choices }) => choice(`Which ${name}?`, choices),
  text: ({ name }) => text(`What ${name}?`),
  form: ({ name }) => form({ title: `Form ${name}`, schema }),
}

export default defineAgent({
  name: 'script',
  title: 'Script',
  async *run(turn) {
    for (const act of JSON.parse(turn.text)) {
      if (act.say) yield `${act.say} `
      if (!act.asks) continue
      const results = yield* all(act.asks.map(ask => askings[ask.kind](ask)))
      for (const [index, ask] of act.asks.entries())
        yield `@${JSON.stringify({ name: ask.name, result: results[index] })}\n`
    }
  },
})

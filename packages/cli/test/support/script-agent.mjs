// An agent that follows a script. The message is a JSON list of texts to write and requests to open; the agent writes each result after an @.
import { all, approval, choice, defineAgent, form, text } from '@holdpoint/drivers'

const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 0 } }, required: ['n'] }
const askBuilders = {
  approval: ({ name, cancel }) => approval(`May I ${name}?`, cancel ? { onReject: 'cancel' } : {}),
  choice: ({ name, choices }) => choice(`Which ${name}?`, choices),
  text: ({ name }) => text(`What ${name}?`),
  form: ({ name }) => form({ title: `Form ${name}`, schema }),
}

export default defineAgent({
  name: 'script',
  title: 'Script',
  async *run(turn) {
    for (const step of JSON.parse(turn.text)) {
      if (step.say) yield `${step.say} `
      if (!step.asks) continue
      const results = yield* all(step.asks.map(ask => askBuilders[ask.kind](ask)))
      for (const [index, ask] of step.asks.entries())
        yield `@${JSON.stringify({ name: ask.name, result: results[index] })}\n`
    }
  },
})

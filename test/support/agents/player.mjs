/** A test agent that plays the scene named in the session options: short turns with predictable text. */
import { all, approval, defineAgent, questions } from '@holdpoint/drivers'

const scenes = {
  async *turn() {
    yield 'Before '
    yield 'the ask.'
    const answer = yield* approval('Go on?', { tool: 'go', input: { to: 'here' }, editable: true })
    yield answer.allowed ? `Allowed: ${JSON.stringify(answer.input)}` : `Denied: ${answer.reason}`
    yield ' And '
    yield 'more.'
  },
  async *echo(turn) {
    const answer = yield* approval(`May I echo ${turn.text}?`)
    yield answer.allowed ? `Echo: ${turn.text}` : `Denied: ${answer.reason}`
  },
  async *deadline(turn) {
    const answer = yield* approval('Quick?', { deadlineMs: turn.session.options.deadlineMs })
    yield answer.allowed ? 'Allowed' : answer.reason
    const answers = yield* questions([{ question: 'Really?', options: ['Yes'] }], {
      deadlineMs: turn.session.options.deadlineMs,
    })
    yield answers === null ? ' Not answered.' : ' Answered.'
  },
  async *many() {
    const answers = yield* all(['a', 'b', 'c'].map(name => approval(`Do ${name}?`, { tool: name, agentPath: [name] })))
    yield answers.map(answer => (answer.allowed ? 'yes' : answer.reason)).join(', ')
  },
}

export default defineAgent({
  name: 'player',
  title: 'Plays one scene',
  run: turn => scenes[turn.session.options.scene](turn),
})

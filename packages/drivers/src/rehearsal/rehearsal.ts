/** The built-in agent that plays every kind of ask: no key, no network, harmless commands in a folder of its own. */
import type { Json } from '@holdpoint/protocol'
import { choice } from '../generator/asks.ts'
import { defineAgent, type GeneratorAgent } from '../generator/generator.ts'
import type { AgentYield, Turn } from '../generator/turn.ts'
import { removeFolders, type SceneName, sceneNames, scenes } from './rehearsal-scenes.ts'

const paceDefaultMs = 35

export const rehearsal: GeneratorAgent = defineAgent({
  name: 'rehearsal',
  title: 'Rehearsal: plays every kind of ask',
  modes: ['default', 'acceptEdits'],
  async *run(turn) {
    if (turn.history.some(said => said.role === 'person')) return yield* echo(turn)
    const chosen = chooseParts(turn)
    yield* speak(
      turn,
      'Hello! This is a rehearsal: I am a small agent without a model. I will stop and ask you a few things, the way a ' +
        'real agent does. Nothing happens without your answer, and everything I run is harmless.\n\n',
    )
    const told: string[] = []
    const folders: string[] = []
    try {
      for (const name of chosen) {
        const part = scenes[name]
        yield* speak(turn, `${part.opening} `)
        told.push(yield* part.play(folders))
      }
      yield* speak(turn, `\n\nThat was all. This is what I was told:\n\n${told.map(line => `- ${line}`).join('\n')}\n`)
    } finally {
      await removeFolders(folders, turn.signal)
    }
  },
})

function chooseParts(turn: Turn): readonly SceneName[] {
  const only: Json | undefined = turn.session.options.only
  const named = sceneNames.find(name => name === only)
  if (named) return [named]
  return /\bshort\b/i.test(turn.text) ? ['approval'] : sceneNames
}

async function* echo(turn: Turn): AsyncGenerator<AgentYield, void, unknown> {
  yield* speak(turn, `You said: “${turn.text}”. `)
  const picked = yield* choice('What shall I make of it?', ['Keep it', 'Forget it', 'Ask me later'])
  yield* speak(turn, picked ? `You chose “${picked.value}”.` : 'You chose nothing, so I leave it at that.')
}

/** In small pieces, so that it looks alive. */
async function* speak(turn: Turn, text: string): AsyncGenerator<AgentYield, void, unknown> {
  const { paceMs } = turn.session.options
  const stepMs = typeof paceMs === 'number' ? paceMs : paceDefaultMs
  for (const piece of text.match(/\S*\s*/g) ?? []) {
    if (piece === '') continue
    yield piece
    if (stepMs > 0) await turn.pause(stepMs)
  }
}

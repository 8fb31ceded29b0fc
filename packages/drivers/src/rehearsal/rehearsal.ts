/** The built-in rehearsal agent: demonstrates every kind of ask without an API key or a network, and runs only harmless commands in its own temporary folder. */
import type { Json } from '@holdpoint/protocol'
import { choice } from '../generator/asks.ts'
import { defineAgent, type GeneratorAgent } from '../generator/generator.ts'
import type { AgentYield, Turn } from '../generator/turn.ts'
import { removeFolders, type SceneName, sceneNames, scenes } from './rehearsal-scenes.ts'

const paceDefaultMs = 35

export const rehearsal: GeneratorAgent = defineAgent({
  name: 'rehearsal',
  title: 'Rehearsal agent',
  modes: ['default', 'acceptEdits'],
  async *run(turn) {
    if (turn.history.some(block => block.role === 'person')) return yield* echo(turn)
    const chosen = chooseScenes(turn)
    yield* streamText(
      turn,
      'Hello! This is a rehearsal: I am a small agent without a model. I will stop and ask you a few things, as a ' +
        'real agent does. Nothing happens without your answer, and everything I run is harmless.\n\n',
    )
    const answers: string[] = []
    const folders: string[] = []
    try {
      for (const name of chosen) {
        const scene = scenes[name]
        yield* streamText(turn, `${scene.opening} `)
        answers.push(yield* scene.play(folders))
      }
      yield* streamText(
        turn,
        `\n\nThat is all. These were your answers:\n\n${answers.map(line => `- ${line}`).join('\n')}\n`,
      )
    } finally {
      await removeFolders(folders, turn.signal)
    }
  },
})

function chooseScenes(turn: Turn): readonly SceneName[] {
  const only: Json | undefined = turn.session.options.only
  const named = sceneNames.find(name => name === only)
  if (named) return [named]
  return /\bshort\b/i.test(turn.text) ? ['approval'] : sceneNames
}

async function* echo(turn: Turn): AsyncGenerator<AgentYield, void, unknown> {
  yield* streamText(turn, `You said: “${turn.text}”. `)
  const picked = yield* choice('What should I do with it?', ['Keep it', 'Forget it', 'Ask me later'])
  yield* streamText(turn, picked ? `You chose “${picked.value}”.` : 'You chose nothing, so I did nothing.')
}

/** Streams the text word by word, like a real agent. */
async function* streamText(turn: Turn, text: string): AsyncGenerator<AgentYield, void, unknown> {
  const { paceMs } = turn.session.options
  const stepMs = typeof paceMs === 'number' ? paceMs : paceDefaultMs
  for (const piece of text.match(/\S*\s*/g) ?? []) {
    if (piece === '') continue
    yield piece
    if (stepMs > 0) await turn.pause(stepMs)
  }
}

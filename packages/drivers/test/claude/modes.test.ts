import { afterEach, describe, expect, it } from 'vitest'
import { type Deed, type Mode, modeNames, modes } from '../../src/claude/modes.ts'
import { House } from './house.ts'
import { bash, call, type Play, say } from './model.ts'

let house: House
afterEach(() => house.close())

const options = ['A', 'B'].map(label => ({ label, description: label }))
const question = { question: 'Which?', header: 'W', multiSelect: false, options }
const deeds: Readonly<Record<Deed, (cwd: string) => ReturnType<typeof call>>> = {
  question: () => call('AskUserQuestion', { questions: [question] }, 'question'),
  change: () => bash('touch x', 'change'),
  look: () => bash('ls -la', 'look'),
  edit: cwd => call('Write', { file_path: `${cwd}/y.txt`, content: 'y' }, 'edit'),
  ruin: () => bash('rm -rf ~/', 'ruin'),
}
const names = Object.keys(deeds) as readonly Deed[]
const deedsInTurn: Play = ({ results }) => {
  const name = names[results.length]
  return name ? [deeds[name](house.cwd)] : [say('done')]
}

describe('the mode', () => {
  it.each(modeNames)('%s asks, runs and refuses as the table says', async (mode: Mode) => {
    house = await House.open(deedsInTurn)
    await house.start({ mode })
    house.stage.answerAll(({ ask }) =>
      ask.kind === 'questions' ? { kind: 'decline' } : { kind: 'deny', reason: 'by hand' },
    )
    await house.over()
    const seen = Object.fromEntries(
      names.map(name => {
        const asked = house.stage.log('request.opened').some(event => event.value.key === name)
        const finished = house.stage.log('tool.finished').find(event => event.block === name)
        return [name, asked ? 'asks' : finished?.ok ? 'runs' : 'refuses']
      }),
    )
    expect(seen).toEqual(modes[mode])
  })

  it('can be changed in mid-session', async () => {
    house = await House.open(({ prompt, results }) =>
      results.length < (prompt === 'go' ? 1 : 2) ? [bash(`touch ${prompt}.txt`, `toolu_${prompt}`)] : [say('done')],
    )
    const id = await house.start({ mode: 'acceptEdits' })
    await house.over()
    expect(house.file('go.txt')).toBe('')
    await house.stage.person('patchSession', { id, mode: 'default' })
    await house.stage.person('sendMessage', { id, text: 'again' })
    await house.stage.answer(await house.asked('toolu_again'), { kind: 'deny' })
    await house.over(2)
    expect(house.file('again.txt')).toBeNull()
  })

  it('bypassPermissions cannot be entered later unless that was allowed at the start', async () => {
    house = await House.open(() => [say('done')])
    const id = await house.start()
    await house.over()
    await house.stage.person('patchSession', { id, mode: 'bypassPermissions' })
    const changed = await house.stage.seen('command.done', event => !event.outcome.ok)
    expect(changed.outcome.reason).toContain('refused')
  })
})

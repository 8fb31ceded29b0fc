/** The scenes of the rehearsal agent, one per kind of ask. Each scene introduces itself, asks, carries out what the person allowed, and returns a summary of the answer. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import type { Approval } from '@holdpoint/client'
import { Fault, type JsonObject, type QuestionAnswer } from '@holdpoint/protocol'
import { all, approval, form, questions, TurnCancelled, text } from '../generator/asks.ts'
import { StepFailed, StepUnknown, type StepYield, step } from '../generator/step.ts'
import type { AgentYield } from '../generator/turn.ts'
import { Interrupted } from '../generator/turn-end.ts'
import { runShellCommand } from './shell-command.ts'

type ScenePlay = AsyncGenerator<AgentYield, string, unknown>
interface Scene {
  readonly opening: string
  /** Plays the scene, and adds every temporary folder that the scene creates to `folders`. */
  readonly play: (folders: string[]) => ScenePlay
}
export const sceneNames = ['approval', 'edit', 'plan', 'questions', 'text', 'form', 'parallel'] as const
export type SceneName = (typeof sceneNames)[number]

const commandMaxMs = 10_000
const outputMaxBytes = 64 * 1024
const folderPrefix = 'holdpoint-rehearsal-'

export const scenes: Readonly<Record<SceneName, Scene>> = {
  approval: { opening: 'First, I would like to run a command in a new temporary folder.', play: playCommand },
  edit: { opening: 'Now I would like to change a file, in another temporary folder.', play: playEdit },
  plan: { opening: 'Here is my plan. You can edit it before you approve it.', play: playPlan },
  questions: { opening: 'Next, two questions at once.', play: playQuestions },
  text: { opening: 'Next, a question that you answer in your own words.', play: playText },
  form: { opening: 'Next, a form.', play: playForm },
  parallel: { opening: 'Finally, two of my subagents ask at the same time.', play: playParallel },
}

async function* playCommand(folders: string[]): ScenePlay {
  const cwd = yield* makeFolder(folders)
  const input = {
    command: 'echo "Hello from the rehearsal" > hello.txt && ls -l',
    description: 'Write a file and list it',
  }
  const answer = yield* approval('Run a command', { tool: 'Bash', input, cwd, editable: true })
  if (!answer.allowed) return `The command was not allowed: ${answer.reason}`
  const command = step('Bash', signal => runAllowedCommand(answer.input, cwd, signal), { input: answer.input })
  const { output, failure } = yield* attempt(command)
  if (failure !== null) return `The command was allowed${withNote(answer)}, but it failed: ${failure}.`
  yield `\n\`\`\`\n${output}\n\`\`\`\n`
  return `The command was allowed${withNote(answer)}, and it ran.`
}

async function* playEdit(folders: string[]): ScenePlay {
  const cwd = yield* makeFolder(folders)
  const file = join(cwd, 'greeting.txt')
  const before = 'Good morning.\nIt is a quiet day.\n'
  yield* step('Write', () => writeFile(file, before), { input: { file_path: file, content: before } })
  const input = { file_path: file, old_string: 'a quiet day', new_string: 'a day for rehearsals' }
  const answer = yield* approval('Edit greeting.txt', {
    tool: 'Edit',
    input,
    action: { write: [file] },
    cwd,
    editable: true,
  })
  if (!answer.allowed) return `The edit was not allowed: ${answer.reason}`
  const { failure } = yield* attempt(step('Edit', () => editFile(answer.input, cwd), { input: answer.input }))
  if (failure !== null) return `The edit was allowed${withNote(answer)}, but it failed: ${failure}.`
  return `The edit was allowed${withNote(answer)}, and I made it.`
}

async function* playPlan(): ScenePlay {
  const plan = '# Plan\n\n1. Read the greeting\n2. Translate it into **two** languages\n3. Compare the results\n'
  const options = { tool: 'ExitPlanMode', input: { plan }, plan, editable: true }
  const answer = yield* approval('Continue with this plan?', options)
  if (!answer.allowed) return `The plan was not approved: ${answer.reason}`
  const mode = answer.mode === undefined ? '' : ` in mode ${answer.mode}`
  return `The plan was approved${mode}${withNote(answer)}${answer.input.plan === plan ? '' : ', with your changes'}.`
}

async function* playQuestions(): ScenePlay {
  const answers = yield* questions([
    {
      id: 'language',
      header: 'Language',
      question: 'Which language should the greeting use?',
      options: [
        { label: 'English', description: 'As it is', preview: 'Good morning.' },
        { label: 'French', description: 'A short one', preview: 'Bonjour.' },
        { label: 'German', description: 'A longer one', preview: 'Guten Morgen.' },
      ],
    },
    {
      id: 'checks',
      header: 'Checks',
      question: 'What should I check afterward?',
      options: ['Spelling', 'Line length', 'Tone'],
      multiSelect: true,
      allowOther: true,
    },
  ])
  if (!answers) return 'The two questions were declined.'
  return `Language: ${answerText(answers[0])}. Checks: ${answerText(answers[1])}.`
}

async function* playText(): ScenePlay {
  const name = yield* text('What should the greeting be called?')
  return name === null ? 'You didn’t name the greeting.' : `The greeting is called “${name}”.`
}

async function* playForm(): ScenePlay {
  const values = yield* form({
    title: 'A card for the greeting',
    message: 'This form has one field of every kind.',
    schema: {
      type: 'object',
      required: ['to', 'count'],
      properties: {
        to: { type: 'string', title: 'To', minLength: 1, maxLength: 80 },
        email: { type: 'string', title: 'Email', format: 'email' },
        site: { type: 'string', title: 'Web page', format: 'uri' },
        day: { type: 'string', title: 'Day', format: 'date' },
        at: { type: 'string', title: 'Time', format: 'date-time' },
        tone: { type: 'string', title: 'Tone', enum: ['warm', 'plain', 'formal'], default: 'warm' },
        paper: {
          type: 'string',
          title: 'Paper',
          oneOf: [
            { const: 'a5', title: 'Small' },
            { const: 'a4', title: 'Large' },
          ],
        },
        count: { type: 'integer', title: 'Copies', minimum: 1, maximum: 9, default: 1 },
        width: { type: 'number', title: 'Margin in cm', minimum: 0, maximum: 5 },
        stamped: { type: 'boolean', title: 'With a stamp', default: true },
        extras: { type: 'array', title: 'Extras', items: { enum: ['ribbon', 'seal', 'photo'] }, maxItems: 2 },
      },
    },
  })
  if (!values) return 'The form was declined.'
  const filled = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return `The form says ${filled.join(', ') || 'nothing'}.`
}

async function* playParallel(): ScenePlay {
  const [review, lint] = yield* all([
    approval('Read the whole greeting', {
      tool: 'Read',
      input: { file_path: 'greeting.txt' },
      action: { read: ['greeting.txt'] },
      agentPath: ['reviewer'],
    }),
    approval('Check the spelling of the greeting', {
      tool: 'Lint',
      input: { rule: 'spelling' },
      agentPath: ['reviewer', 'linter'],
    }),
  ])
  return `The reviewer was ${allowedText(review)}; its linter was ${allowedText(lint)}.`
}

/** Creates a temporary folder for this turn. Runs as a step, so a replay gets the same folder. */
function* makeFolder(folders: string[]): Generator<StepYield, string, unknown> {
  const folder = yield* step('Make a temporary folder', () => mkdtemp(join(tmpdir(), folderPrefix)))
  folders.push(folder)
  return folder
}

/** Removes the folders if the turn has ended. Keeps them if the turn is parked or its runner was lost, because the replay uses the same folders. */
export async function removeFolders(folders: readonly string[], { aborted, reason }: AbortSignal): Promise<void> {
  const ended = reason instanceof Fault && reason.code === 'session_ended'
  const over = !aborted || ended || reason instanceof Interrupted || reason instanceof TurnCancelled
  if (over) await Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true })))
}

interface Attempt {
  readonly output: string
  readonly failure: string | null
}
/** Runs a step. If the step fails, returns the error message instead of failing the turn. */
async function* attempt(
  allowedStep: Generator<StepYield, string, unknown>,
): AsyncGenerator<AgentYield, Attempt, unknown> {
  try {
    return { output: yield* allowedStep, failure: null }
  } catch (error) {
    if (error instanceof StepFailed || error instanceof StepUnknown) return { output: '', failure: error.message }
    throw error
  }
}

function runAllowedCommand({ command }: JsonObject, cwd: string, signal: AbortSignal): Promise<string> {
  if (typeof command !== 'string') throw new Error('command must be text')
  return runShellCommand(command, { cwd, signal, maxMs: commandMaxMs, outputMaxBytes })
}

async function editFile({ file_path, old_string, new_string }: JsonObject, cwd: string): Promise<string> {
  if (typeof file_path !== 'string' || typeof old_string !== 'string' || typeof new_string !== 'string')
    throw new Error('file_path, old_string and new_string must be text')
  const file = resolve(cwd, file_path)
  // A person can edit the path, and the rehearsal must not change files outside its own folder.
  if (relative(cwd, file).startsWith('..')) throw new Error(`${file} is outside the rehearsal’s folder`)
  await mkdir(dirname(file), { recursive: true })
  const before = await readFile(file, 'utf8')
  if (!before.includes(old_string)) throw new Error(`the text to replace is not in ${file}`)
  const after = before.replace(old_string, () => new_string)
  await writeFile(file, after)
  return after
}

function withNote({ note }: Extract<Approval, { readonly allowed: true }>): string {
  return note === undefined ? '' : ` with the note “${note}”`
}
function allowedText(answer: Approval): string {
  return answer.allowed ? 'allowed' : `not allowed (${answer.reason})`
}
function answerText(answer: QuestionAnswer | null | undefined): string {
  if (!answer) return 'not answered'
  return [...answer.chosen, ...(answer.other === undefined ? [] : [`“${answer.other}”`])].join(', ')
}

/** The schemas of watchers and of the variables of a session, as `holdpoint.rules.json` declares them. The rules package checks the conditions, which the schemas cannot express. */
import { z } from 'zod'
import { ActionKind } from './action.ts'
import { limits } from './limits.ts'
import { RuleDraft, RuleScope } from './rule.ts'
import { WatcherRef } from './watcher-ref.ts'

export const WatchMoment = z
  .enum(['start', 'prompt', 'before', 'after', 'stop'])
  .describe(
    'When a watcher is evaluated. "start": once for each session, at the first of its moments. "prompt": before a message is given to the agent. "before": before a tool call or a question of the agent. "after": after a tool call. "stop": when the agent ends its turn.',
  )
export type WatchMoment = z.infer<typeof WatchMoment>

export const VariableName = z
  .string()
  .regex(/^[a-z][A-Za-z0-9_]{0,63}$/, 'must be a letter a to z, followed by at most 63 letters, digits or _')
  .describe('The name of a variable.')

export const VariableValue = z
  .union([z.boolean(), z.number(), z.string().max(limits.variableTextMax)])
  .describe('The value of a variable: true or false, a number or a string.')
export type VariableValue = z.infer<typeof VariableValue>

export const VariableDeclaration = z
  .union([
    VariableValue,
    z.strictObject({
      default: VariableValue.describe('The value until something sets another one. It decides the type.'),
      setBy: z
        .enum(['watchers', 'agent'])
        .optional()
        .describe('"agent": the agent may set the variable, too. By default, only watchers and people set it.'),
      note: z.string().max(limits.reasonMax).optional().describe('What the variable means, for people and agents.'),
    }),
  ])
  .describe('The default value of a variable, or an object with it.')
export type VariableDeclaration = z.infer<typeof VariableDeclaration>

const condition = z.string().min(1).max(limits.conditionMax)
const sentence = z.string().min(1).max(limits.reasonMax)

export const WatchLimit = z
  .strictObject({
    cost: z.number().positive().optional().describe('US dollars.'),
    tokens: z.int().positive().optional().describe('Tokens that the model read and wrote.'),
    turns: z.int().positive().optional().describe('Turns of the agent.'),
    minutes: z.number().positive().optional().describe('Minutes in which the agent worked.'),
    per: z
      .enum(['session', 'day', 'folder'])
      .optional()
      .describe(
        'What is counted together: the session (the default), all sessions of a day, or all sessions in the same folder.',
      ),
  })
  .describe(
    'A limit, exactly one of cost, tokens, turns and minutes. At the limit, a person is asked about the agent’s next call. After an allow, the agent works until the same amount is used again.',
  )
export type WatchLimit = z.infer<typeof WatchLimit>

export const WatchEffects = z
  .strictObject({
    set: z
      .record(VariableName, condition)
      .optional()
      .describe('New values of variables of the same file, as CEL expressions.'),
    say: sentence
      .optional()
      .describe('A text that the agent reads, written as facts. At "stop", it sends the agent back to work.'),
    ask: sentence.optional().describe('Why a person is asked.'),
    deny: sentence
      .optional()
      .describe('Why the call, the question, the message or the stop is refused. The agent reads this text.'),
    limit: WatchLimit.optional(),
  })
  .describe('The effects of a watcher. A text may contain CEL expressions, each in braces after a dollar sign.')
export type WatchEffects = z.infer<typeof WatchEffects>

export const WatcherDraft = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be a letter a to z, followed by at most 63 letters, digits or -')
      .describe('The name of the watcher, unique in its file.'),
    on: WatchMoment,
    ...RuleDraft.pick({ tool: true, command: true, path: true, host: true, mcp: true }).shape,
    action: z
      .enum([...ActionKind.options, 'question'])
      .optional()
      .describe('Only actions of this kind. "question": a question or a form of the agent.'),
    when: condition.optional().describe('A condition in CEL. By default, the watcher always applies.'),
    do: WatchEffects,
    times: z.int().min(1).optional().describe('How often the watcher may fire in a session. By default, always.'),
    every: z
      .string()
      .regex(/^\d{1,4}[smhd]$/, 'must be a number and one of s, m, h, d, for example 10m')
      .optional()
      .describe('The shortest time between two firings in a session.'),
    scope: RuleScope.omit({ session: true })
      .optional()
      .describe('Limits the watcher to some sessions. By default, the watcher applies to all sessions.'),
    note: z.string().max(limits.reasonMax).optional().describe('Why the watcher exists, for people.'),
  })
  .describe('A watcher: a rule on the course of a session.')
export type WatcherDraft = z.infer<typeof WatcherDraft>

export const ReadyMadeUse = z
  .union([
    z.string().min(1).max(limits.nameMax),
    z.strictObject({
      name: z.string().min(1).max(limits.nameMax).describe('The name of the ready-made watchers.'),
      cwd: z.string().max(limits.pathMax).optional().describe('Only sessions in this folder and its subfolders.'),
      with: z
        .record(z.string().max(limits.nameMax), VariableValue)
        .optional()
        .describe('Settings of the ready-made watchers, for example the test command.'),
    }),
  ])
  .describe('Ready-made watchers that are turned on.')
export type ReadyMadeUse = z.infer<typeof ReadyMadeUse>

/** The file that a watcher or a variable comes from. */
export const WatchSource = z
  .object({
    file: z.string().describe('The path of the file.'),
    trusted: z
      .boolean()
      .describe(
        'Whether a person has trusted this version of the file. Until then, its watchers can only deny and ask, and the agent does not read their texts.',
      ),
    project: z.boolean().describe('Whether this is the file of a project, whose watchers apply only in its folder.'),
  })
  .describe('The file that a watcher or a variable comes from.')
export type WatchSource = z.infer<typeof WatchSource>

export const Watcher = WatcherDraft.extend({
  source: WatchSource,
  version: z.int().describe('The version of the file, starting at 1. Every change of the file raises it.'),
  readyMade: z.string().optional().describe('The name of the ready-made watchers that this one belongs to.'),
  gaps: z
    .array(z.string())
    .optional()
    .describe(
      'Sentences that say which effects cannot hold for the agent of the session. Present if the call named a session and there are any.',
    ),
}).describe('A watcher that is in force.')
export type Watcher = z.infer<typeof Watcher>

export const Variable = z
  .object({
    name: VariableName,
    value: VariableValue,
    default: VariableValue.describe('The value until something sets another one.'),
    setByAgent: z.boolean().describe('Whether the agent may set the variable.'),
    note: z.string().optional().describe('What the variable means.'),
    changedAt: z.int().optional().describe('When the value was set, in epoch milliseconds. Missing for the default.'),
    changedBy: z
      .string()
      .optional()
      .describe('The name of the watcher, the person or the agent that set the value. Missing for the default.'),
    source: WatchSource,
  })
  .describe('A variable of a session.')
export type Variable = z.infer<typeof Variable>

export const MomentReply = z
  .object({
    say: z.array(z.string()).describe('Texts that the agent must read, in order. Give each of them to the agent once.'),
    deny: z
      .string()
      .optional()
      .describe(
        'Why the message is refused, at "prompt", or why the agent is sent back to work, at "stop". Missing if no watcher refuses anything.',
      ),
    watcher: WatcherRef.optional(),
  })
  .describe('What watchers say about a moment of a session.')
export type MomentReply = z.infer<typeof MomentReply>

/** The schemas of the events of watchers and variables. */
import { z } from 'zod'
import { PersonId } from './ids.ts'
import { VariableValue, WatchMoment } from './watcher.ts'
import { WatcherRef } from './watcher-ref.ts'

export const WatchFired = z.object({
  type: z.literal('watch.fired').describe('A watcher fired.'),
  watcher: WatcherRef,
  moment: WatchMoment,
  key: z.string().optional().describe('The agent’s own id of the call, the message or the turn.'),
  effects: z
    .array(z.enum(['set', 'say', 'ask', 'deny', 'limit']))
    .describe('The effects that the watcher had. Empty if it had none because of the problem.'),
  text: z.string().optional().describe('What the watcher said, asked or denied.'),
  set: z.record(z.string(), VariableValue).optional().describe('The variables that the watcher set.'),
  problem: z
    .string()
    .optional()
    .describe('Why the condition could not be evaluated. A watcher that would deny or ask then asks.'),
})

export const VariableChanged = z.object({
  type: z.literal('variable.changed').describe('A person or the agent set a variable of a session.'),
  name: z.string().describe('The name of the variable.'),
  file: z.string().describe('The file that declares the variable.'),
  to: VariableValue.describe('The new value.'),
  by: z.enum(['person', 'agent']).describe('Who set the variable.'),
  person: z.string().optional().describe('The name of the person.'),
  personId: PersonId.optional().describe('The id of the person.'),
})

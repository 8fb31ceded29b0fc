/** Operations on rules: list, add, remove, and check what they would answer without resolving anything. */
import { Fault, limits, type ParsedInput, type Rule } from '@holdpoint/protocol'
import { evaluateRules, validateRule } from '@holdpoint/rules'
import { personIdOf } from '../authorization.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { toRule } from '../wire-views.ts'

function madeBy(caller: Caller): Pick<Rule, 'madeBy' | 'madeById'> {
  return { madeBy: caller.name, madeById: personIdOf(caller) }
}

export async function listRules(ctx: Context) {
  const added = (await ctx.store.find('rule', {})).map(toRule)
  return { status: 200, body: { items: [...ctx.builtInRules, ...added], next: null } }
}

export async function addRule(ctx: Context, caller: Caller, input: ParsedInput<'addRule'>, options: DispatchOptions) {
  const draft = validateRule(input)
  const id = ctx.newId('rul')
  return ctx.commit<Rule>(
    {
      label: 'rule',
      reads: [
        { table: 'rule', id },
        { table: 'rule', query: {} },
      ],
      decide: change => {
        if (change.find('rule', {}).length >= limits.rulesMax)
          return new Fault('too_many', `There are ${limits.rulesMax} rules; remove some first`)
        const rule: Rule = { ...draft, id, ...madeBy(caller), madeAt: change.now, version: 1 }
        change.put('rule', { ...rule, ord: change.nextSeq })
        change.event(null, { type: 'rule.added', value: rule })
        return { status: 201, body: rule }
      },
    },
    { caller, op: 'addRule', input, options },
  )
}

export function removeRule(ctx: Context, caller: Caller, input: ParsedInput<'removeRule'>, options: DispatchOptions) {
  if (ctx.builtInRules.some(({ id }) => id === input.id))
    throw new Fault('forbidden', `Rule ${input.id} is built in and cannot be removed`, { id: input.id })
  return ctx.commit<Record<string, never>>(
    {
      label: 'rule',
      reads: [{ table: 'rule', id: input.id }],
      decide: change => {
        if (!change.get('rule', input.id))
          return new Fault('not_found', `There is no rule ${input.id}`, { id: input.id })
        change.delete('rule', input.id)
        change.event(null, { type: 'rule.removed', rule: input.id })
        return { status: 200, body: {} }
      },
    },
    { caller, op: 'removeRule', input, options },
  )
}

export async function checkRules(ctx: Context, caller: Caller, input: ParsedInput<'checkRules'>) {
  if (input.ask.kind !== 'approval')
    return {
      status: 200,
      body: { verdict: 'ask' as const, reason: 'rules only answer approvals; a person has to answer this' },
    }
  const now = await ctx.store.now()
  const drafts = input.rules?.map(draft => ({
    ...validateRule(draft),
    id: ctx.newId('rul'),
    ...madeBy(caller),
    madeAt: now,
    version: 0,
  }))
  const rules = drafts ?? (await ctx.store.find('rule', {}))
  // Evaluate as if a person had opened a session in the folder of the ask.
  const openedBy = { id: personIdOf(caller), name: caller.name }
  const session = { id: null, driver: input.driver ?? '', cwd: input.ask.cwd, openedBy }
  const verdict = evaluateRules(rules, input.ask, ctx.ruleContext(session, now))
  // Draft rules are not stored, so their ids mean nothing to the caller.
  const isDraft = drafts?.some(({ id }) => id === verdict.rule)
  const { rule: _rule, ...withoutRule } = verdict
  return { status: 200, body: isDraft ? withoutRule : verdict }
}

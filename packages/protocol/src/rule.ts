/** The schemas of rules. `RuleDraft` contains every planned field, and `validateRule` in the rules package refuses fields that are not supported yet. */
import { z } from 'zod'
import { PersonId, RuleId, SessionId } from './ids.ts'
import { limits } from './limits.ts'

export const RuleEffect = z
  .enum(['allow', 'ask', 'deny'])
  .describe('"allow": the tool runs without asking. "ask": a person is always asked. "deny": the tool never runs.')

export const RuleDraft = z
  .strictObject({
    effect: RuleEffect,
    tool: z
      .string()
      .min(1)
      .max(limits.nameMax)
      .describe(
        'The name of the tool that the rule is for, for example "Bash". Built-in rules are for every tool: "*".',
      ),
    command: z
      .string()
      .min(1)
      .max(limits.textMax)
      .optional()
      .describe('The exact shell command. By default, the rule matches every command.'),
    args: z
      .enum(['exact', 'grammar'])
      .optional()
      .describe('How arguments are compared. This version supports only "exact".'),
    path: z.string().min(1).max(limits.pathMax).optional().describe('The exact path of the file.'),
    host: z.string().min(1).max(limits.nameMax).optional().describe('A host name. Not supported in this version.'),
    when: z.string().min(1).max(limits.reasonMax).optional().describe('A condition. Not supported in this version.'),
    scope: z
      .strictObject({
        driver: z.string().max(limits.nameMax).optional().describe('Only sessions of this driver.'),
        cwd: z.string().max(limits.pathMax).optional().describe('Only tool calls in exactly this working folder.'),
        session: SessionId.optional().describe('Only this session.'),
      })
      .optional()
      .describe('Limits the rule to some sessions. By default, the rule applies to all sessions.'),
    expiresAt: z.int().optional().describe('When the rule expires, in epoch milliseconds.'),
    usesLeft: z.int().min(1).optional().describe('How often the rule may still match. Not supported in this version.'),
    needs: z.int().min(1).max(1).optional().describe('How many people must agree. This version supports only 1.'),
    note: z.string().max(limits.reasonMax).optional().describe('Why the rule exists. Agents and people see it.'),
  })
  .describe('A rule to add.')
export const Rule = RuleDraft.extend({
  id: RuleId,
  usesLeft: z.int().min(0).optional().describe('How often the rule may still match.'),
  madeBy: z.string().describe('The name of the person who added the rule; "Holdpoint" for a built-in rule.'),
  madeById: PersonId.optional().describe(
    'The id of the person who added the rule. Missing for a built-in rule, and if Holdpoint 0.1 stored the rule.',
  ),
  madeAt: z.int().describe('When the rule was added, in epoch milliseconds.'),
  version: z.int().describe('The version of the rule, starting at 1.'),
}).describe('A rule: a standing answer to tool calls.')
export type RuleDraft = z.infer<typeof RuleDraft>
export type Rule = z.infer<typeof Rule>

export const Verdict = z
  .object({
    verdict: RuleEffect.describe('The verdict. It is also "ask" if no rule matches.'),
    rule: RuleId.optional().describe('The id of the rule that decided.'),
    reason: z.string().describe('The reason for the verdict, in one sentence.'),
  })
  .describe('What the rules decide about a tool call.')
export type Verdict = z.infer<typeof Verdict>

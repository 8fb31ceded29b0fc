/** The schemas of rules. `validateRule` in the rules package checks what the schemas cannot express. */
import { z } from 'zod'
import { ActionKind } from './action.ts'
import { PersonId, RequestId, RuleId, RunnerId, SessionId } from './ids.ts'
import { limits } from './limits.ts'
import { commandGroups, ruleEffects } from './rule-choices.ts'
import { WatcherRef } from './watcher-ref.ts'

export const RuleEffect = z
  .enum(ruleEffects)
  .describe('"allow": the call runs without asking. "ask": a person is always asked. "deny": the call never runs.')
export type RuleEffect = z.infer<typeof RuleEffect>

export const CommandGroup = z
  .enum(commandGroups)
  .describe(
    'A group of programs whose arguments Holdpoint knows. "only-reads": commands that only read files of the folder. "project-code": commands that test, check or build the project, and so run its code.',
  )
export type CommandGroup = z.infer<typeof CommandGroup>

export const RuleScope = z
  .strictObject({
    driver: z.string().max(limits.nameMax).optional().describe('Only sessions of this driver.'),
    cwd: z
      .string()
      .max(limits.pathMax)
      .optional()
      .describe(
        'Only sessions in this folder. A rule that denies, asks or allows a group also applies in its subfolders.',
      ),
    session: SessionId.optional().describe('Only this session.'),
    agentPath: z
      .array(z.string().max(limits.nameMax))
      .max(limits.agentPathMax)
      .optional()
      .describe('Only the subagent with this path, and its subagents. An empty list means every agent.'),
  })
  .describe('Limits the rule to some sessions. By default, the rule applies to all sessions.')

export const RuleDraft = z
  .strictObject({
    effect: RuleEffect,
    tool: z
      .string()
      .min(1)
      .max(limits.nameMax)
      .optional()
      .describe('The agent’s own name of the tool, for example "Bash". By default, the rule is for every tool.'),
    action: ActionKind.optional().describe('Only actions of this kind.'),
    command: z
      .string()
      .min(1)
      .max(limits.ruleCommandMax)
      .optional()
      .describe(
        'A shell command. An allow rule matches this command only. A rule that denies or asks matches every command in which these words occur in this order, even with other words between them and inside a longer command.',
      ),
    args: z
      .enum(['exact', 'grammar'])
      .optional()
      .describe(
        'How an allow rule compares arguments. "exact" (the default): this command and no other. "grammar": also with further arguments that Holdpoint knows to be harmless.',
      ),
    group: CommandGroup.optional(),
    path: z
      .string()
      .min(1)
      .max(limits.pathMax)
      .optional()
      .describe('The path of a file, or of a folder with everything in it if it ends with "/**".'),
    host: z.string().min(1).max(limits.nameMax).optional().describe('The exact name of a host.'),
    mcp: z
      .strictObject({
        server: z.string().min(1).max(limits.nameMax).describe('The name of the MCP server.'),
        tool: z
          .string()
          .min(1)
          .max(limits.nameMax)
          .optional()
          .describe('The name of the tool. By default, every tool.'),
      })
      .optional()
      .describe('The tools of an MCP server.'),
    when: z.string().min(1).max(limits.reasonMax).optional().describe('A condition. Not supported in this version.'),
    scope: RuleScope.optional(),
    expiresAt: z.int().optional().describe('When the rule expires, in epoch milliseconds.'),
    usesLeft: z.int().min(1).optional().describe('How often the rule may still answer.'),
    until: z
      .enum(['turn', 'session'])
      .optional()
      .describe('The rule ends with the current turn, or with the session. Needs `scope.session`.'),
    needs: z.int().min(1).max(1).optional().describe('How many people must agree. This version supports only 1.'),
    message: z
      .string()
      .min(1)
      .max(limits.reasonMax)
      .optional()
      .describe('The sentence that the agent reads if this rule denies its call.'),
    note: z.string().max(limits.reasonMax).optional().describe('Why the rule exists, for people.'),
    paused: z.boolean().optional().describe('Whether the rule has no effect for now.'),
  })
  .describe('A rule to add.')
export const Rule = RuleDraft.extend({
  id: RuleId,
  usesLeft: z.int().min(0).optional().describe('How often the rule may still answer.'),
  madeBy: z
    .string()
    .describe(
      'The name of the person who added the rule; "Holdpoint" for a built-in rule, and the name of the file for a rule from a file.',
    ),
  madeById: PersonId.optional().describe(
    'The id of the person who added the rule. Missing for rules that no person of this gateway added, and if Holdpoint 0.1 stored the rule.',
  ),
  madeAt: z.int().describe('When the rule was added, in epoch milliseconds.'),
  version: z.int().describe('The version of the rule, starting at 1. Every change raises it.'),
  uses: z.int().optional().describe('How often the rule has answered.'),
  lastUsedAt: z.int().optional().describe('When the rule answered last, in epoch milliseconds.'),
  source: z
    .object({
      file: z.string().describe('The path of the file.'),
      trusted: z
        .boolean()
        .describe('Whether a person has trusted this version of the file. Until then, its allow rules have no effect.'),
      project: z
        .boolean()
        .describe(
          'Whether this is the file of a project, whose rules apply only in its folder. If not, it is the file in the data folder.',
        ),
      runner: RunnerId.describe('The runner on whose machine the file is.'),
      problem: z
        .string()
        .optional()
        .describe(
          'Why the file cannot be used. A rule with a problem asks about every call in the folder of the file.',
        ),
    })
    .optional()
    .describe('The file that the rule comes from. Missing for rules that are stored in the gateway.'),
}).describe('A rule: a standing answer to tool calls.')
export type RuleDraft = z.infer<typeof RuleDraft>
export type Rule = z.infer<typeof Rule>

export const Verdict = z
  .object({
    verdict: RuleEffect.describe('The verdict. It is also "ask" if no rule matches.'),
    rule: RuleId.optional().describe('The id of the rule that decided.'),
    ruleVersion: z.int().optional().describe('The version of that rule.'),
    reason: z.string().describe('The reason for the verdict, in one sentence.'),
    command: z
      .string()
      .optional()
      .describe('The command as an allow rule read it, in canonical quoting. This is the command that runs.'),
    watcher: WatcherRef.optional(),
    say: z
      .array(z.string())
      .optional()
      .describe('Texts of watchers that the agent must read. Give each of them to the agent once.'),
  })
  .describe('What the rules decide about a tool call.')
export type Verdict = z.infer<typeof Verdict>

export const RulePreview = z
  .object({
    matched: z.int().describe('How many of the resolved requests the rule would have matched.'),
    allowed: z.int().describe('How many of these a person allowed, without a change of the input.'),
    denied: z.int().describe('How many of these a person denied.'),
    allowedByYou: z.int().describe('How many of the allowed requests the caller allowed.'),
    deniedByYou: z.int().describe('How many of the denied requests the caller denied.'),
    since: z
      .int()
      .nullable()
      .describe('When the oldest of the compared requests was resolved; null if there are none.'),
    complete: z.boolean().describe('Whether all resolved requests were compared. If not, only the latest ones were.'),
    examples: z
      .array(
        z.object({
          request: RequestId,
          what: z.string().describe('The command, path, host or tool.'),
          answer: z
            .enum(['allow', 'deny'])
            .nullable()
            .describe('What a person answered; null if no person did, or if a person changed the input.'),
          at: z.int().describe('When the request was resolved, in epoch milliseconds.'),
        }),
      )
      .describe('Some of the matched requests: denied ones first, then the latest.'),
    pending: z.array(RequestId).describe('The pending requests that the rule matches now.'),
    pendingComplete: z
      .boolean()
      .describe('Whether all pending requests were compared. If not, only the latest ones were.'),
  })
  .describe('What a rule would have matched.')
export type RulePreview = z.infer<typeof RulePreview>

export const RuleProposal = z
  .object({
    rule: RuleDraft,
    explanation: z.string().describe('What the rule allows, in one sentence.'),
    runsProjectCode: z
      .boolean()
      .describe('Whether the rule allows running code of the project, which agents can change.'),
  })
  .describe('A rule that would allow a request from now on.')
export type RuleProposal = z.infer<typeof RuleProposal>

/** Rules: standing answers. The shape is the whole design's; what the matcher understands so far is decided in the rules room. */
import { z } from 'zod'
import { RuleId, SessionId } from './ids.ts'
import { limits } from './limits.ts'

export const RuleDraft = z.strictObject({
  effect: z.enum(['allow', 'ask', 'deny']),
  tool: z.string().min(1).max(limits.nameMax),
  command: z.string().min(1).max(limits.textMax).optional(),
  args: z.enum(['exact', 'grammar']).optional(),
  path: z.string().min(1).max(limits.pathMax).optional(),
  host: z.string().min(1).max(limits.nameMax).optional(),
  when: z.string().min(1).max(limits.reasonMax).optional(),
  scope: z
    .strictObject({
      driver: z.string().max(limits.nameMax).optional(),
      cwd: z.string().max(limits.pathMax).optional(),
      session: SessionId.optional(),
    })
    .optional(),
  expiresAt: z.int().optional(),
  usesLeft: z.int().min(1).optional(),
  needs: z.int().min(1).max(1).optional(),
  note: z.string().max(limits.reasonMax).optional(),
})
export const Rule = RuleDraft.extend({
  id: RuleId,
  usesLeft: z.int().min(0).optional(),
  madeBy: z.string(),
  madeAt: z.int(),
  version: z.int(),
})
export type RuleDraft = z.infer<typeof RuleDraft>
export type Rule = z.infer<typeof Rule>

export const Verdict = z.object({
  verdict: z.enum(['allow', 'ask', 'deny']),
  rule: RuleId.optional(),
  reason: z.string(),
})
export type Verdict = z.infer<typeof Verdict>

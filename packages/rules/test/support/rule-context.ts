/** Rules and calls for tests, and the context of a call: a session of Claude Code whose folder and files are known. */
import { posix } from 'node:path'
import type { Rule, RuleDraft, RunnerId, SessionId, ToolCall } from '@holdpoint/protocol'
import type { RuleContext } from '../../src/rule-context.ts'
import type { CallSite } from '../../src/site.ts'

export function contextAt({ folder, home, files }: CallSite): RuleContext {
  return {
    driver: 'claude',
    session: null,
    runner: null,
    folder,
    agentPath: [],
    isEditable: true,
    now: 0,
    home,
    files,
    builtIn: { protectedFolder: null, cwd: folder },
    isUsedUp: () => false,
  }
}

export const session = 'ses_00000000000000000000' as SessionId // a valid id
export const runner = 'run_00000000000000000000' as RunnerId // a valid id

/** A session in the folder /srv. Every path exists and is not a link. */
export const srvContext: RuleContext = {
  ...contextAt({ folder: '/srv', cwd: '/srv', home: '/home/ada', files: { realPath: posix.normalize } }),
  session,
  runner,
}

/** The first ids belong to built-in rules. */
let ruleCount = 100
/** A rule that allows in the folder /srv, unless the draft says otherwise. */
export function srvRule(draft: Partial<Rule> | Partial<RuleDraft>): Rule {
  const id = `rul_${String(ruleCount++).padStart(20, '0')}` as Rule['id'] // a valid id
  return { effect: 'allow', scope: { cwd: '/srv' }, madeBy: 'ada', madeAt: 0, version: 1, ...draft, id }
}

export function bash(command: string, cwd = '/srv'): ToolCall {
  return { tool: 'Bash', input: { command }, cwd }
}

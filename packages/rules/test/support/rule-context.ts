/** The context of a call for tests of rules: a session of Claude Code whose folder and files are known. */
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

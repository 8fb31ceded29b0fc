/** Parses `holdpoint.rules.json`, the file of a person or of a project, and says in which folder its rules and watchers apply. */
import { type RuleDraft, readRuleFileText } from '@holdpoint/protocol'
import { isInside, joinPath, rulePath } from './paths.ts'
import { ruleFileName } from './rule-file-name.ts'
import { ruleProblem } from './rule-validation.ts'
import { checkWatchers, type WatchContent } from './watch/watch-file.ts'

export interface RuleFileContent extends WatchContent {
  readonly rules: readonly RuleDraft[]
}

/** Returns the rules, variables and watchers of a file, including the ready-made watchers that it uses. Throws a Fault that says where the problem is and what to do. `folder` is the folder of a project's file, outside which no rule and no watcher of the file applies; it is null for the person's own file. */
export function parseRuleFile(text: string, folder: string | null): RuleFileContent {
  const file = readRuleFileText(text)
  const rules = file.rules.map((draft, index) => {
    const rule = folder === null ? draft : inProject(draft, folder)
    const problem =
      lifetimeProblem(draft) ?? (folder === null ? null : projectProblem(rule, folder)) ?? ruleProblem(rule)
    if (problem) throw file.problemAt(['rules', index], problem)
    return rule
  })
  return { rules, ...checkWatchers(file, folder) }
}

/** Rules in a file have no state of their own, so they cannot end with a session or be used up. */
function lifetimeProblem({ until, usesLeft, scope }: RuleDraft): string | null {
  if (until !== undefined || scope?.session !== undefined || usesLeft !== undefined)
    return 'A rule in a file cannot have until, usesLeft or scope.session. Remove them, or add the rule with holdpoint rules add.'
  return null
}

/** A project's rule is for the project's folder, or for a folder in it that it names. */
function inProject(draft: RuleDraft, folder: string): RuleDraft {
  return { ...draft, scope: { ...draft.scope, cwd: joinPath(folder, draft.scope?.cwd ?? '.') } }
}

function projectProblem({ effect, path, scope }: RuleDraft, folder: string): string | null {
  const cwd = scope?.cwd ?? folder
  if (!isInside(cwd, folder))
    return `scope.cwd leads out of ${folder}. Name a folder of the project, or move the rule to your own ${ruleFileName} in the data folder.`
  if (effect === 'allow' && path !== undefined && !isInside(rulePath(path, cwd).path, folder))
    return `The path leads out of ${folder}. Name a path of the project, or move the rule to your own ${ruleFileName} in the data folder.`
  return null
}

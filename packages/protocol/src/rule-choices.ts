/** The effects of rules, and the groups of commands that a rule can name. The page needs these lists without the schemas. */
export const ruleEffects = ['allow', 'ask', 'deny'] as const
export const commandGroups = ['only-reads', 'project-code'] as const

/** The name of the file with rules and watchers, in the data folder and in projects. */
export const ruleFileName = 'holdpoint.rules.json'

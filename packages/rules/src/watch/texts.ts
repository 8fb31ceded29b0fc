/** The sentences of watchers that people and agents read. */
import type { WatchLimit, WatchMoment } from '@holdpoint/protocol'
import { ruleFileName } from '../rule-file-name.ts'

export type LimitUnit = 'cost' | 'tokens' | 'turns' | 'minutes'

const listed = (names: readonly string[], last = 'and') =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${last} ${names.at(-1)}`
const quoted = (names: readonly string[]) => names.map(name => `"${name}"`)

const whoUsed: Readonly<Record<NonNullable<WatchLimit['per']>, string>> = {
  session: 'This session has',
  day: 'Today’s sessions have',
  folder: 'The sessions in this folder have',
}
const unitNames: Readonly<Record<LimitUnit, string>> = {
  cost: 'US dollars',
  tokens: 'tokens',
  turns: 'turns',
  minutes: 'minutes',
}
const amountText = (amount: number, unit: LimitUnit) =>
  unit === 'cost' ? amount.toFixed(2) : String(Math.round(amount * 10) / 10)

export const watchTexts = {
  // Problems of conditions
  notCel: (problem: string) => `This is not valid CEL: ${problem}. Correct it.`,
  unknownName: (name: string, known: readonly string[]) =>
    `${name} is not known. Use ${listed(known, 'or')}; variables are written as vars.NAME.`,
  unknownVariable: (name: string, known: readonly string[]) =>
    known.length === 0
      ? `vars.${name} is not known, because the file declares no variables. Declare it in "vars".`
      : `vars.${name} is not known. Declare it in "vars", or use ${listed(known, 'or')}.`,
  unknownField: (name: string, known: readonly string[]) => `${name} is not known. Use ${listed(known, 'or')}.`,
  notKnownThen: (name: string, moments: readonly WatchMoment[]) =>
    `${name} is known only at ${listed(quoted(moments))}. Change "on", or leave ${name} out.`,
  wrongTypes: (operation: string) =>
    `${operation} is not possible. Use values of the same type; int(), double() and string() convert.`,
  wrongCondition: (problem: string) => `${problem}. Correct it.`,
  wrongConditionType: (type: string) => `The condition must be true or false, but it is ${type}. Add a comparison.`,
  noRegularExpressions: 'Regular expressions are not possible here. Use contains, startsWith or endsWith.',
  unknownFunction: (name: string) =>
    `The function ${name} is not known here. Use size, contains, startsWith, endsWith, lowerAscii, upperAscii, trim, exists, all, exists_one, filter, int, double, string, bool or recent.`,
  notAllowed: (what: string) => `${what} is not possible in conditions. Leave it out.`,
  indexNotLiteral: 'Write the index as a number, or the name as a text in quotes.',
  recentNotLiteral: 'recent needs a duration in quotes, such as recent("10m"). The units are s, m, h and d.',
  searchedText: (max: number) => `contains can search only for a text in quotes with at most ${max} characters.`,
  itemName: 'Name the item first and then the test, as in exists(item, item == "x").',
  itemNameTaken: (name: string) => `${name} already means something else. Use another name for the item.`,
  withoutField: (name: string) => `Name a field after ${name}, as in ${name}.field.`,
  notAList: 'This is not a list. Use recent(…), action.paths, risk.touches, session.agentPath or a list in brackets.',
  listInList: 'A list cannot contain another list. Join them with +.',
  tooMuchWork: 'This condition can need too much work. Make it shorter, or look at fewer items.',
  fileTooMuchWork: 'Together, the conditions of this file can need too much work. Remove some, or make them shorter.',
  unclosedExpression: 'The expression that starts here with ${ has no end. Add }.',
  wrongTextType: (type: string) =>
    `A text cannot contain a value of type ${type}. Use a text, a number, or true or false.`,

  // Problems of files
  tooManyVariables: (max: number) => `The file declares more than ${max} variables. Remove some.`,
  tooManyWatchers: (max: number) =>
    `The file has more than ${max} watchers, including the ready-made ones. Remove some.`,
  variablesTooLarge: (max: number) =>
    `The defaults of all variables are larger than ${max / 1024} KiB. Make them shorter.`,
  variableNameTaken: (name: string) =>
    `${name} is a word with a meaning of its own, so it cannot name a variable. Choose another name.`,
  noEffect: 'The watcher has no effect. Add set, say, ask, deny or limit to "do".',
  wrongEffect: (moment: WatchMoment, effect: string, possible: readonly string[]) =>
    `A watcher at "${moment}" cannot have "${effect}". Use ${listed(possible, 'or')}, or change "on".`,
  askAndDeny: 'A watcher can ask or deny, not both. Remove one of them.',
  matcherWithoutCall: (matcher: string, moment: WatchMoment) =>
    `There is no call at "${moment}", so "${matcher}" would never match. Remove it, or use "before" or "after".`,
  questionAfter: 'Questions are known only at "before". Change "on" or "action".',
  questionWithMatcher: (matcher: string) => `A question has no "${matcher}". Remove "${matcher}", or "action".`,
  emptyTool: 'One of the names between | is empty. Remove the extra |.',
  questionTool: (tool: string) =>
    `${tool} is a question, and "tool" never matches questions. Use "action": "question" instead.`,
  duplicateName: (name: string) => `Another watcher of this file has the name ${name}. Choose another name.`,
  nameOfReadyMade: (name: string, readyMade: string) =>
    `The ready-made watchers ${readyMade} already use the name ${name}. Choose another name, or remove ${readyMade} from "use".`,
  wrongLimit: 'A limit needs exactly one of cost, tokens, turns and minutes.',
  everyAtStart: 'A session starts once, so "every" has no meaning at "start". Remove it.',
  limitRepeats: (field: string) =>
    `A limit asks again when the same amount is used again, so "${field}" has no meaning. Remove it.`,
  unknownSet: (name: string) => `The variable ${name} is not declared. Add it to "vars".`,
  wrongSetType: (name: string, wanted: string, given: string) =>
    `The variable ${name} is of type ${wanted}, but this value is of type ${given}. Change the value or the default.`,
  leadsOut: (folder: string) =>
    `scope.cwd leads out of ${folder}. Name a folder of the project, or move the watcher to your own ${ruleFileName} in the data folder.`,
  relativeFolder: (cwd: string) => `The folder must be an absolute path, not ${JSON.stringify(cwd)}.`,

  // Ready-made watchers
  unknownReadyMade: (name: string, known: readonly string[]) =>
    `There are no ready-made watchers with the name ${name}. Use ${listed(known, 'or')}.`,
  unknownSetting: (name: string, setting: string, known: readonly string[]) =>
    known.length === 0
      ? `${name} has no settings. Remove ${setting}.`
      : `${name} has no setting ${setting}. Use ${listed(known, 'or')}.`,
  wrongSetting: (problem: string) => `${problem} Correct the setting.`,
  usedTwice: (name: string) => `${name} is listed twice. Remove one, or give each its own "cwd".`,

  // Evaluation
  commandTooLong: 'The command is too long for a condition.',
  callTooLong: 'The call is too long to check.',
  notReadable: (name: string) => `The watcher ${name} cannot be used by this version of Holdpoint. Check its file.`,
  valueTooLarge: (name: string) => `The new value of ${name} is too large.`,
  variablesFull: (max: number) => `The variables of this session would be larger than ${max / 1024} KiB.`,
  couldNotJudge: (name: string, problem: string) =>
    `The watcher “${name}” could not be evaluated, so a person has to decide: ${problem}`,
  couldNotJudgePrompt: (name: string, problem: string) =>
    `The watcher “${name}” could not be evaluated, so the message is refused: ${problem}`,
  untrustedProblem: (file: string) =>
    `A watcher of the untrusted file ${file} could not be evaluated, so a person has to decide.`,
  untrustedDenies: (file: string) => `A watcher of the untrusted file ${file} denies this.`,
  untrustedAsks: (file: string) => `A watcher of the untrusted file ${file} asks about this.`,
  limitReached: (unit: LimitUnit, per: NonNullable<WatchLimit['per']>, used: number, limit: number, next: number) =>
    `${whoUsed[per]} used ${amountText(used, unit)} of ${amountText(limit, unit)} ${unitNames[unit]}. If you allow this, the agent continues up to ${amountText(next, unit)}.`,
}

/** The sentences about effects that a watcher cannot have for an agent. */
export const gapTexts = {
  someCalls: 'This agent asks about only some of its calls, so “before” sees only those.',
  noCalls: 'This agent asks about none of its calls, so “before” sees none of them.',
  noQuestions: 'This agent asks no questions through Holdpoint, so a watcher for questions has no effect.',
  noPrompts: 'Holdpoint does not see the messages to this agent, so “prompt” never happens.',
  noResults: 'This agent does not report its calls, so “after” never happens.',
  lateText: 'What “after” says reaches this agent only with its next message.',
  failuresAsOk: 'This agent reports a command that fails as a success, so `result.ok` is always true.',
  noOutcome: 'This agent does not report whether a command failed, so `result.ok` is always false.',
  noSendBack: 'This agent cannot be sent back to work, so “stop” only sets variables.',
  lateStop: 'This agent stops while “stop” asks, and reads the answer only with its next message.',
  noCost: 'This agent does not report its cost, so a cost limit is never reached.',
  noTokens: 'This agent does not report its tokens, so a token limit is never reached.',
}

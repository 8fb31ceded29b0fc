/** Tests that no text is taken for a harmless command if it runs more, less or something else. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseCommand } from '../../src/index.ts'
import { attacks } from './attack-samples.ts'

/** Returns whether every part of the command has exactly the words of the rule. */
function isRule(command: string, rule: string): boolean {
  const parsed = parseCommand(command)
  return parsed.provable && parsed.segments.every(({ argv }) => argv.join('\0') === rule.split(' ').join('\0'))
}

const corpus = JSON.parse(readFileSync(new URL('../data/policy.json', import.meta.url), 'utf8')) as readonly {
  readonly rule: string
  readonly class: string
  readonly command: string
}[] // the file contains a list of objects with these fields

describe('commands that run more than a rule for their words allows', () => {
  it.each(corpus)('$class: $command does not match the rule for $rule', ({ command, rule }) =>
    expect(isRule(command, rule)).toBe(false),
  )
})

describe.each(Object.entries(attacks))('an attack with %s', (_, commands) => {
  it.each(commands)('an attack is not provable: %j', command => expect(parseCommand(command).provable).toBe(false))
})

it('the list of attacks has at least 150 entries', () =>
  expect(new Set(Object.values(attacks).flat()).size).toBeGreaterThanOrEqual(150))

/** Texts that are provable, but are a different command than the rule. */
const otherCommands: readonly (readonly [rule: string, command: string])[] = [
  ['npm test', 'npm test && touch P'],
  ['npm test', 'npm test; touch P'],
  ['npm test', 'npm test | touch P'],
  ['npm test', 'npm test || touch P'],
  ['npm test', 'npm "test;touch P"'],
  ['npm test', "npm 'test' ''"],
  ['npm test', 'npm test -- --x'],
  ['npm test', 'npm test\\ x'],
  ['npm test', 'npm Test'],
  ['npm test', './npm test'],
  ['npm test', 'npm.exe test'],
  ['npm test', 'npmtest'],
  ['npm test', 'npm "te st"'],
  ['npm test', 'npm test 2>/dev/null | sh'],
  ['npm test', 'cd evil && npm test'],
  ['npm test', 'env npm test'],
  ['npm test', 'command -v npm'],
  ['git diff', 'git diff --output=P'],
  ['git log', "git log '--output=P'"],
  ['ls', "find . -exec rm '{}' +"],
  ['git diff', 'git -c core.pager=x diff'],
]
describe('a provable command', () => {
  it.each(otherCommands)('a provable command does not match the rule for %s: %s', (rule, command) =>
    expect(isRule(command, rule)).toBe(false),
  )
  it.each([
    ['npm test', 'npm   test'],
    ['npm test', "npm 'test'"],
    ['npm test', 'npm te"s"t 2>&1'],
    ['npm test', 'npm test && npm test'],
  ])('a provable command matches the rule for %s if all its words are the same: %s', (rule, command) =>
    expect(isRule(command, rule)).toBe(true),
  )
})

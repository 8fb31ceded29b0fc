/** A pin: the tables as released. Where it goes red, tables changed and archives out there need a new step in migrations.ts. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { latestVersion, postgresSteps, sqliteSteps } from '../src/migrations.ts'

it('numbers its steps from one, alike in both dialects', () => {
  const numbers = Array.from({ length: latestVersion }, (_, n) => n + 1)
  expect(sqliteSteps.map(step => step.version)).toEqual(numbers)
  expect(postgresSteps.map(step => step.version)).toEqual(numbers)
})

it('never changes a step that was released', () => {
  const pin = (steps: typeof sqliteSteps) =>
    steps.map(step => createHash('sha256').update(step.statements.join(';\n')).digest('hex').slice(0, 16))
  expect({ sqlite: pin(sqliteSteps), postgres: pin(postgresSteps) }).toEqual({
    sqlite: ['6bca4145d9520c1f', '7c2b47958cc22ee7'],
    postgres: ['b9646dfab55cedff', 'e330e415ed28200f'],
  })
})

import { expect, it } from 'vitest'
import { againMs, Twice } from '../src/tui/twice.ts'

it('a key that is pressed again does what it armed, unless another came between or it is long ago', () => {
  let now = 0
  const twice = new Twice(() => now)
  expect(twice.take()).toBeNull()
  twice.arm('leave')
  now += againMs - 1
  expect(twice.take()).toBe('leave')
  expect(twice.take(), 'once').toBeNull()
  twice.arm('leave')
  now += againMs
  expect(twice.take()).toBeNull()
})

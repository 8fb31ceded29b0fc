import { expect, it } from 'vitest'
import { RepeatToConfirm, repeatWithinMs } from '../src/tui/prompt/repeat-to-confirm.ts'

it('a key that is pressed again does what it armed, unless another came between or it is long ago', () => {
  let now = 0
  const twice = new RepeatToConfirm(() => now)
  expect(twice.take()).toBeNull()
  twice.arm('leave')
  now += repeatWithinMs - 1
  expect(twice.take()).toBe('leave')
  expect(twice.take(), 'once').toBeNull()
  twice.arm('leave')
  now += repeatWithinMs
  expect(twice.take()).toBeNull()
})

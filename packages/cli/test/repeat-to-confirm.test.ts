import { expect, it } from 'vitest'
import { RepeatToConfirm, repeatWithinMs } from '../src/tui/prompt/repeat-to-confirm.ts'

it('a second press of the same key confirms an action unless another key was pressed in between or too much time has passed', () => {
  let now = 0
  const confirmation = new RepeatToConfirm(() => now)
  expect(confirmation.take()).toBeNull()
  confirmation.arm('leave')
  now += repeatWithinMs - 1
  expect(confirmation.take()).toBe('leave')
  expect(confirmation.take(), 'the second call').toBeNull()
  confirmation.arm('leave')
  now += repeatWithinMs
  expect(confirmation.take()).toBeNull()
})

/** Decides whether a call that waits could be resumed in a new process. */
import type { CallParking } from '../../session/agent-connection.ts'
import { notParkable } from '../messages.ts'
import type { TranscriptIndex } from '../transcript/transcript-index.ts'
import type { ParkingProbe } from './parking-method.ts'

export interface CallParkingOptions {
  readonly index: TranscriptIndex
  readonly parkingProbe: ParkingProbe
  /** Returns whether the call waits in the PreToolUse hook, where it can be deferred. */
  readonly isHeld: (call: string) => boolean
  /** Returns whether the call runs in a folder other than that of the session. */
  readonly isElsewhere: (call: string) => boolean
}

/** Limit for `bytesSinceCall`. The CLI reads all these bytes again each time it resumes the call. */
const bytesSinceCallMax = 1024 * 1024

export function callParking({ index, parkingProbe, isHeld, isElsewhere }: CallParkingOptions): CallParking {
  return {
    prepare: () => parkingProbe.findMethod(),
    whyNot(call) {
      if (!index.openCalls.some(({ id }) => id === call)) return notParkable.notRecorded
      if (index.openCalls.length > 1) return notParkable.siblingOpen
      if (index.bytesSinceCall > bytesSinceCallMax) return notParkable.tooMuchWritten
      // The shell of a new process starts in the folder of the session, so the call would run there.
      if (isElsewhere(call)) return notParkable.otherFolder
      // Until the self-test has finished, assume that marker rows work: a runner that stops does not wait for the self-test.
      switch (parkingProbe.method ?? 'markerRow') {
        case 'markerRow':
          return null
        case 'none':
          return notParkable.off
        case 'defer':
          if (!isHeld(call)) return notParkable.onlyQuestions
          return index.hasSingleCall ? null : notParkable.siblingInStep
      }
    },
  }
}

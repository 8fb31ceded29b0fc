/** A session as clients see it, for tests of code that only reads some of its fields. */
import type { Session } from '@holdpoint/protocol'

export function sessionSample(fields: Pick<Session, 'id'> & Partial<Session>): Session {
  return {
    driver: 'test',
    title: 'A session',
    cwd: '/srv',
    mode: null,
    model: null,
    state: 'idle',
    stateChangedAt: 0,
    startedAt: 0,
    endedAt: null,
    ending: null,
    pending: 0,
    cost: null,
    lastMessage: '',
    runner: null,
    capabilities: [],
    conversationId: null,
    deadlineMs: null,
    onDeadline: 'wait',
    parkAfterMs: null,
    options: {},
    process: null,
    ...fields,
  }
}

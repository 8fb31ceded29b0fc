/** Tests the environment of agents that a runner starts. */
import { delimiter } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentEnvironment } from '../src/agent-environment.ts'

describe('agentEnvironment', () => {
  it('agentEnvironment leaves out the folders of project programs from the PATH, because such programs could replace those of the system', () => {
    const path = ['/project/node_modules/.bin', '/usr/bin', '/a/node_modules/.bin/', '/b/.bin', ''].join(delimiter)
    expect(agentEnvironment({ PATH: path, KEPT: 'x' })).toEqual({
      PATH: ['/usr/bin', '/b/.bin', ''].join(delimiter),
      KEPT: 'x',
    })
  })
  it('agentEnvironment leaves out the variables of Holdpoint, and adds no PATH', () => {
    expect(agentEnvironment({ HOLDPOINT_TOKEN: 't', KEPT: 'x' })).toEqual({ KEPT: 'x' })
  })
})

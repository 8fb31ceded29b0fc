/** The numbered crash points, which are the steps of a session at which tests kill a process. A test checks that a run without a crash passes exactly these points. */

/** Crash points of the gateway, from the start of a session to the end of its turn, in the order in which they are first passed. */
export const gatewayPoints = [
  'begun:start', // 1
  'decided:start',
  'written:start',
  'committed:start',
  'replying:startSession', // 5
  'replying:listWork',
  'begun:attach',
  'decided:attach',
  'written:attach',
  'committed:attach', // 10
  'replying:attachSession',
  'replying:listCommands',
  'begun:moment', // watchers see the message
  'decided:moment',
  'written:moment', // 15
  'committed:moment',
  'replying:reportMoment',
  'begun:takeCommand',
  'decided:takeCommand',
  'written:takeCommand', // 20
  'committed:takeCommand',
  'replying:takeCommand',
  'replying:listEvents',
  'begun:appendEvents#1', // the agent's message before it asks
  'decided:appendEvents#1', // 25
  'written:appendEvents#1',
  'committed:appendEvents#1',
  'replying:appendEvents#1',
  'begun:open',
  'decided:open', // 30
  'written:open',
  'committed:open',
  'replying:openRequest',
  'begun:answer',
  'decided:answer', // 35
  'written:answer',
  'committed:answer',
  'replying:answerRequest',
  'replying:getRequest',
  'begun:handed', // 40
  'decided:handed',
  'written:handed',
  'committed:handed',
  'replying:reportDelivery#1',
  'begun:taken', // 45
  'decided:taken',
  'written:taken',
  'committed:taken',
  'replying:reportDelivery#2',
  'begun:appendEvents#2', // 50: the action starts
  'decided:appendEvents#2',
  'written:appendEvents#2',
  'committed:appendEvents#2',
  'replying:appendEvents#2',
  'begun:appendEvents#3', // 55: the action is finished
  'decided:appendEvents#3',
  'written:appendEvents#3',
  'committed:appendEvents#3',
  'replying:appendEvents#3',
  'begun:appendEvents#4', // 60: the agent's message after the action
  'decided:appendEvents#4',
  'written:appendEvents#4',
  'committed:appendEvents#4',
  'replying:appendEvents#4',
  'begun:appendEvents#5', // 65: the turn is finished
  'decided:appendEvents#5',
  'written:appendEvents#5',
  'committed:appendEvents#5',
  'replying:appendEvents#5',
  'begun:finishCommand', // 70
  'decided:finishCommand',
  'written:finishCommand',
  'committed:finishCommand',
  'replying:finishCommand', // 74
] as const

/** Crash points of the runner, while its agent asks and gets the answer. */
export const runnerPoints = [
  'runner:asked', // 75
  'runner:resolution-seen',
  'runner:handed',
  'runner:given',
  'runner:taken', // 79
] as const

export type GatewayPoint = (typeof gatewayPoints)[number]
export type RunnerPoint = (typeof runnerPoints)[number]

export function numberOf(point: GatewayPoint | RunnerPoint): number {
  return [...gatewayPoints, ...runnerPoints].indexOf(point) + 1
}

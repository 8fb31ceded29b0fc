/** Every place between two hops of the path where a process can die, by number. A run without a crash passes exactly these, so the list cannot rot. */

/** Of the gateway, from the start of a session to the end of its turn, in the order in which they are first passed. */
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
  'begun:takeCommand',
  'decided:takeCommand',
  'written:takeCommand', // 15
  'committed:takeCommand',
  'replying:takeCommand',
  'replying:listEvents',
  'begun:say#1', // what the agent says before it asks
  'decided:say#1', // 20
  'written:say#1',
  'committed:say#1',
  'replying:say#1',
  'begun:open',
  'decided:open', // 25
  'written:open',
  'committed:open',
  'replying:openRequest',
  'begun:answer',
  'decided:answer', // 30
  'written:answer',
  'committed:answer',
  'replying:answerRequest',
  'replying:getRequest',
  'begun:handed', // 35
  'decided:handed',
  'written:handed',
  'committed:handed',
  'replying:reportDelivery#1',
  'begun:taken', // 40
  'decided:taken',
  'written:taken',
  'committed:taken',
  'replying:reportDelivery#2',
  'begun:say#2', // 45: the action is about to begin
  'decided:say#2',
  'written:say#2',
  'committed:say#2',
  'replying:say#2',
  'begun:say#3', // 50: the action is done
  'decided:say#3',
  'written:say#3',
  'committed:say#3',
  'replying:say#3',
  'begun:say#4', // 55: what the agent says after it
  'decided:say#4',
  'written:say#4',
  'committed:say#4',
  'replying:say#4',
  'begun:say#5', // 60: the turn is over
  'decided:say#5',
  'written:say#5',
  'committed:say#5',
  'replying:say#5',
  'begun:finishCommand', // 65
  'decided:finishCommand',
  'written:finishCommand',
  'committed:finishCommand',
  'replying:finishCommand', // 69
] as const

/** Of the runner, on the agent's side of the request. */
export const runnerPoints = [
  'runner:asked', // 70
  'runner:resolution-seen',
  'runner:handed',
  'runner:given',
  'runner:taken', // 74
] as const

export type GatewayPoint = (typeof gatewayPoints)[number]
export type RunnerPoint = (typeof runnerPoints)[number]

export function numberOf(point: GatewayPoint | RunnerPoint): number {
  return [...gatewayPoints, ...runnerPoints].indexOf(point) + 1
}

/** Every operation, once: the server mounts this table, the client is typed from it, OpenAPI is printed from it. */
import type { z } from 'zod'
import { adminOps } from './contract-admin.ts'
import { agentOps } from './contract-agents.ts'
import { peopleOps } from './contract-people.ts'

export const contract = { ...peopleOps, ...agentOps, ...adminOps }

export type Contract = typeof contract
export type OperationName = keyof Contract
export type Input<K extends OperationName> = z.input<Contract[K]['input']>
export type ParsedInput<K extends OperationName> = z.output<Contract[K]['input']>
export type Output<K extends OperationName> = z.output<Contract[K]['output']>

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
  /** It goes on where the page that sent it is left meanwhile, as far as its browser can. */
  readonly keepalive?: boolean
}
/** One operation, whatever carries it: in process, HTTP or a socket. Rejects with a Fault. */
export type Call = <K extends OperationName>(op: K, input: Input<K>, options?: CallOptions) => Promise<Output<K>>

export const apiRoot = '/api/v1'

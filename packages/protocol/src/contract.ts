/** The contract, which lists every operation. The server's routes, the client's types, the OpenAPI document and docs/api.md are derived from the contract. */
import type { z } from 'zod'
import { adminOps } from './contract-admin.ts'
import { agentOps } from './contract-agents.ts'
import { peopleOps } from './contract-people.ts'
import { runnerOps } from './contract-runners.ts'

/** The operations, grouped by their main users for the API reference. */
export const operationGroups = { people: peopleOps, agents: agentOps, runners: runnerOps, admin: adminOps }
export const contract = { ...peopleOps, ...agentOps, ...runnerOps, ...adminOps }

export type Contract = typeof contract
export type OperationName = keyof Contract
export type Input<K extends OperationName> = z.input<Contract[K]['input']>
export type ParsedInput<K extends OperationName> = z.output<Contract[K]['input']>
export type Output<K extends OperationName> = z.output<Contract[K]['output']>

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
  /** Whether the browser should finish the call even if the person closes the page. */
  readonly keepalive?: boolean
}
/** Calls one operation over any transport: in process, HTTP or a socket. Rejects with a Fault if the gateway refuses the call. */
export type Call = <K extends OperationName>(op: K, input: Input<K>, options?: CallOptions) => Promise<Output<K>>

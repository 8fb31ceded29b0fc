/** The method and path of every operation, for clients. The page's build replaces this module with the finished table, so that browsers need not download the schemas of the contract. */
import { contract, type OperationName } from './contract.ts'
import type { Operation } from './operation.ts'

export type OperationRoutes = Readonly<Record<OperationName, Pick<Operation, 'method' | 'path'>>>

export const operationRoutes = Object.fromEntries(
  Object.entries(contract).map(([name, { method, path }]) => [name, { method, path }]),
) as OperationRoutes // the entries are those of the contract

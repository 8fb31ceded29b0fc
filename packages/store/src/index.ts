export { type ChainReport, verifyChain } from './chain.ts'
export { type MemoryOptions, openMemory } from './memory.ts'
export { openPostgres, type PostgresOptions } from './postgres.ts'
export { openSqlite, type SqliteOptions, type SqliteStore } from './sqlite.ts'

export * from './desk.ts'
export * from './port.ts'
export * from './rows.ts'

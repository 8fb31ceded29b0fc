export { type Gateway, startGateway } from './up.ts'

export { type RunningGateway, startGateway } from './gateway/up.ts'

export { type RunningGateway, startGateway } from './up.ts'

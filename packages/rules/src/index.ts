export { admit, type Judged, judge, type Situation } from './judge.ts'

import { describeRandomKills } from '../random-kills.ts'

describeRandomKills('opencode')

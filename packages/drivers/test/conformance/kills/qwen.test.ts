import { describeRandomKills } from '../random-kills.ts'

describeRandomKills('qwen')

import { describeRandomKills } from '../random-kills.ts'

describeRandomKills('codex-acp')

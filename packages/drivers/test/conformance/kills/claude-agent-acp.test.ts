import { describeRandomKills } from '../random-kills.ts'

describeRandomKills('claude-agent-acp')

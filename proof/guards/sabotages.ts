// The guards that a simulation is tried with: each names one, and how it is broken. Sources are changed in memory, while they
// are loaded; a change names the one place where its text occurs.
import { sabotagesBeyondCampaign } from './beyond-campaign.ts'
import { eventSabotages } from './events.ts'
import { logSabotages } from './log.ts'
import { moneySabotages } from './money.ts'
import type { Sabotage } from './sabotage.ts'

export const sabotages: Record<string, Sabotage> = {
  ...moneySabotages,
  ...eventSabotages,
  ...sabotagesBeyondCampaign,
  ...logSabotages,
}

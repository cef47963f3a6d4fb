// The plan of a run follows from its seed: bursts of scenes, each followed by a quiet moment and by hours in which little
// happens, as a day has.
import { createRandom } from '../../../../harness/random.ts'
import { anyScene, opening } from './scenes.ts'
import { quietMoment, type Step } from './steps.ts'

/** Episodes of a short run, and of one of more than a few hours. */
const [shortEpisodeMs, longEpisodeMs] = [600_000, 3_600_000]
const shortHours = 3
const scenesPerBurst = { least: 3, most: 7 }
const betweenScenesMs = { least: 0, most: 5_000 }
const highestSeed = 2 ** 31

export function planSteps(seed: number, hours: number): Step[] {
  const random = createRandom(seed)
  const episodeMs = hours <= shortHours ? shortEpisodeMs : longEpisodeMs
  const steps: Step[] = []
  const add = (fromMs: number, planned: Pick<Step, 'atMs' | 'actor' | 'what'>[]) => {
    const own = planned.map((step) => ({ ...step, atMs: fromMs + step.atMs, seed: random.integer(0, highestSeed) }))
    steps.push(...own)
    return Math.max(fromMs, ...own.map(({ atMs }) => atMs))
  }
  const episodes = Math.max(1, Math.round((hours * 3_600_000) / episodeMs))
  for (let episode = 0; episode < episodes; episode += 1) {
    const fromMs = episode * episodeMs
    let atMs = add(fromMs, opening(random))
    const count = random.integer(scenesPerBurst.least, scenesPerBurst.most)
    for (let scene = 0; scene < count; scene += 1) {
      // Some scenes begin while the one before goes on.
      const pauseMs = random.integer(betweenScenesMs.least, betweenScenesMs.most)
      atMs = add(random.chance(0.3) ? atMs : atMs + pauseMs, anyScene(random))
    }
    add(atMs + 1_000, [{ atMs: 0, actor: 'observer', what: quietMoment }])
  }
  // After the last burst a long run lasts until its end.
  if (hours > shortHours) add(episodes * episodeMs, [{ atMs: 0, actor: 'observer', what: quietMoment }])
  return steps.sort((one, other) => one.atMs - other.atMs)
}

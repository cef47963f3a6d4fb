// The story of an order: one line a moment, in the order of time, each with its time in Korea and in UTC and its details
// on demand.
import { Paper, Title, VisuallyHidden } from '@mantine/core'
import { useFormats } from '../../format/formats.ts'
import { Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'
import { DetailList } from './detail-list.tsx'
import { MomentIcon } from './moment-icons.tsx'
import { type Moment, tell } from './moment-words.ts'
import classes from './time-line.module.css'

export function TimeLine({ story: moments }: { story: Moment[] }) {
  const { story } = useWords()
  return (
    <Paper component="section" withBorder p="md" aria-labelledby="story">
      <Title order={2} size="h4" id="story" mb="sm">
        {story.title}
      </Title>
      <ol className={classes.line} aria-label={story.caption}>
        {moments.map((moment) => (
          <MomentLine key={`${moment.at} ${moment.kind} ${JSON.stringify(moment.detail)}`} moment={moment} />
        ))}
      </ol>
    </Paper>
  )
}

function MomentLine({ moment }: { moment: Moment }) {
  const words = useWords()
  const { text, notes, tone } = tell(moment, words, useFormats())
  const { kinds } = words.story
  return (
    <li className={classes.moment} data-kind={moment.kind}>
      <span className={classes.icon} data-tone={tone} title={kinds[moment.kind] ?? moment.kind}>
        <MomentIcon kind={moment.kind} />
      </span>
      <div className={classes.told}>
        <p className={classes.sentence}>
          <VisuallyHidden>{`${kinds[moment.kind] ?? moment.kind}: `}</VisuallyHidden>
          {text}
        </p>
        {notes.map((note) => (
          <p key={note} className={classes.note}>
            {note}
          </p>
        ))}
        <details className={classes.details}>
          <summary>{words.story.details}</summary>
          <DetailList detail={moment.detail} />
        </details>
      </div>
      <div className={classes.time}>
        <Time at={moment.at} />
      </div>
    </li>
  )
}

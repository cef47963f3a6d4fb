// The story of an order: one line a moment, in the order of time, each with its time in Korea and in UTC and its details
// on demand.
import { Anchor, Paper, Title, VisuallyHidden } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { useFormats } from '../../../format/formats.ts'
import { Time } from '../../../format/time.tsx'
import { useWords } from '../../../words/words.tsx'
import { DetailList } from '../detail-list.tsx'
import { MomentIcon } from './moment-icons.tsx'
import { type Moment, tell } from './moment-words.ts'
import classes from './time-line.module.css'

/** `title` and `caption` where it is not the story of an order. */
type Props = { story: Moment[]; title?: string; caption?: string }

export function TimeLine({ story: moments, title, caption }: Props) {
  const { story } = useWords()
  return (
    <Paper component="section" withBorder p="md" aria-labelledby="story">
      <Title order={2} size="h4" id="story" mb="sm">
        {title ?? story.title}
      </Title>
      <ol className={classes.line} aria-label={caption ?? story.caption}>
        {moments.map((moment) => (
          <MomentLine key={`${moment.at} ${moment.kind} ${JSON.stringify(moment.detail)}`} moment={moment} />
        ))}
      </ol>
    </Paper>
  )
}

function MomentLine({ moment }: { moment: Moment }) {
  const words = useWords()
  const [path] = useLocation()
  const { text, notes, tone } = tell(moment, words, useFormats())
  const { kinds } = words.story
  const { discrepancyId } = moment.detail
  const isElsewhere = typeof discrepancyId === 'string' && !path.endsWith(discrepancyId)
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
        {isElsewhere && (
          <Anchor component={Link} href={`/books/discrepancies/${discrepancyId}`} size="sm">
            {words.discrepancy.open}
          </Anchor>
        )}
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

// A timeline of an order or of a discrepancy: one line per moment, oldest first, with its time and expandable details.
import { Anchor, Paper, Title, VisuallyHidden } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { useFormats } from '../../../format/formats.ts'
import { Time } from '../../../format/time.tsx'
import { useWords } from '../../../words/words.tsx'
import { DetailList } from '../detail-list.tsx'
import { MomentIcon } from './moment-icons.tsx'
import { describeMoment, type Moment } from './moment-text.ts'
import classes from './timeline.module.css'

/** `title` and `caption` where it is not of an order. */
type Props = { moments: Moment[]; title?: string; caption?: string }

export function Timeline({ moments, title, caption }: Props) {
  const { timeline } = useWords()
  return (
    <Paper component="section" withBorder p="md" aria-labelledby="timeline">
      <Title order={2} size="h4" id="timeline" mb="sm">
        {title ?? timeline.title}
      </Title>
      <ol className={classes.line} aria-label={caption ?? timeline.caption}>
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
  const { text, notes, tone } = describeMoment(moment, words, useFormats())
  const { kinds } = words.timeline
  const { discrepancyId } = moment.detail
  const isElsewhere = typeof discrepancyId === 'string' && !path.endsWith(discrepancyId)
  return (
    <li className={classes.moment} data-kind={moment.kind}>
      <span className={classes.icon} data-tone={tone} title={kinds[moment.kind] ?? moment.kind}>
        <MomentIcon kind={moment.kind} />
      </span>
      <div className={classes.text}>
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
          <summary>{words.timeline.details}</summary>
          <DetailList detail={moment.detail} />
        </details>
      </div>
      <div className={classes.time}>
        <Time at={moment.at} />
      </div>
    </li>
  )
}

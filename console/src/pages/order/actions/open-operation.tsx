// The operation in progress at the gateway: start, attempts, last response and next attempt.
import { SimpleGrid, Text } from '@mantine/core'
import type { Data } from '../../../api/client.ts'
import { useFormats } from '../../../format/formats.ts'
import { Age, Time } from '../../../format/time.tsx'
import { useWords } from '../../../words/words.tsx'
import { Fact } from '../headline.tsx'
import { Notice } from '../notice.tsx'
import { meaningOfCode } from '../timeline/gateway-code.ts'

type Open = NonNullable<Data<'order'>['open']>

export function OpenOperation({ open: operation }: { open: Open }) {
  const { kind, openedAt, attempts, attemptsAtMost, gatewayCode, nextAttemptAt } = operation
  const words = useWords()
  const { open } = words.orders
  const { number } = useFormats()
  const counted = attempts < attemptsAtMost ? open.times : open.timesOrMore
  const title = (open.titles as Record<string, string>)[kind] ?? open.anyTitle
  return (
    <Notice tone="waiting" title={title}>
      <Text size="sm" mb="sm">
        {open.text}
      </Text>
      <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: 4 }} m={0} verticalSpacing="sm">
        <Fact label={open.since}>
          <Time at={openedAt} />
          <Text size="xs" c="dimmed">
            <Age seconds={(Date.now() - Date.parse(openedAt)) / 1000} />
          </Text>
        </Fact>
        <Fact label={open.attempts}>{attempts === 0 ? open.notYet : counted(number(attempts))}</Fact>
        <Fact label={open.lastAnswer}>{gatewayCode ? meaningOfCode(words, gatewayCode) : open.noAnswer}</Fact>
        <Fact label={open.next}>{nextAttemptAt ? <Time at={nextAttemptAt} /> : open.nextNone}</Fact>
      </SimpleGrid>
    </Notice>
  )
}

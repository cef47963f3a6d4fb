// CSV exports of a period.
import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMay } from '../../api/hooks.ts'
import { SaveCsv } from '../../parts/files/save-csv.tsx'
import { SpanChooser, useSpan } from '../../parts/span.tsx'
import { useWords } from '../../words/words.tsx'

export function Exports() {
  const { books } = useWords()
  const chosen = useSpan()
  const ofSpan = { query: chosen.span, disabled: chosen.fault !== null }
  const may = useMay('export')
  if (!may) return <Text>{books.exports.notAllowed}</Text>
  return (
    <Stack gap="md">
      <Text c="dimmed">{books.exports.intro}</Text>
      <SpanChooser chosen={chosen} />
      <SimpleGrid cols={{ base: 1, sm: 2, xl: 4 }}>
        <File title={books.exports.paymentsTitle} text={books.exports.paymentsText}>
          <SaveCsv name="payments" {...ofSpan} />
        </File>
        <File title={books.exports.daysTitle} text={books.exports.daysText}>
          <SaveCsv name="days" {...ofSpan} />
        </File>
        <File title={books.exports.liabilityTitle} text={books.exports.liabilityText}>
          <SaveCsv name="liability" {...ofSpan} query={{ to: chosen.span.to }} />
        </File>
        <File title={books.exports.discrepanciesTitle} text={books.exports.discrepanciesText}>
          <SaveCsv name="discrepancies" query={{ state: 'open' }} label={books.discrepancies.open} />
          <SaveCsv name="discrepancies" query={{ state: 'resolved' }} label={books.discrepancies.resolved} />
        </File>
      </SimpleGrid>
    </Stack>
  )
}

function File({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <Card withBorder component="section">
      <Stack gap="xs" h="100%">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text size="sm" c="dimmed" style={{ flexGrow: 1 }}>
          {text}
        </Text>
        <Group gap="xs">{children}</Group>
      </Stack>
    </Card>
  )
}

// The witnesses of the transparency log with what each has cosigned last, and the checkpoints that were published.
import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'

type Publications = Data<'publications'>
type Witness = Publications['witnesses'][number]
type Checkpoint = Publications['checkpoints'][number]

const refetchMs = 60_000

export function PublishedCheckpoints() {
  const { publications: words } = useWords()
  const { number } = useFormats()
  const { data, error, isLoading } = useEndpoint('publications', {}, { refetchMs })
  const witnesses: Column<Witness>[] = [
    { header: words.witness, place: 'title', cell: ({ name }) => name },
    { header: words.host, place: 'line', cell: ({ host }) => host },
    { header: words.size, align: 'right', cell: ({ size }) => (size === null ? words.never : number(size)) },
    { header: words.cosigned, cell: ({ cosignedAt }) => cosignedAt !== null && <Time at={cosignedAt} /> },
  ]
  const checkpoints: Column<Checkpoint>[] = [
    { header: words.size, place: 'title', cell: ({ size }) => number(size) },
    { header: words.root, place: 'line', cell: ({ root }) => <Id value={root} short /> },
    { header: words.published, cell: ({ publishedAt }) => publishedAt !== null && <Time at={publishedAt} /> },
    { header: words.cosigners, cell: ({ cosigners }) => cosigners.join(', ') || words.noCosigner },
  ]
  return (
    <>
      <Part title={words.witnesses} hint={words.witnessesHint}>
        <DataTable
          caption={words.witnesses}
          columns={witnesses}
          rows={data?.witnesses ?? []}
          keyOf={({ name, host }) => `${name} ${host}`}
          isLoading={isLoading}
          error={error}
          empty={words.noWitnesses}
        />
      </Part>
      <Part title={words.checkpoints} hint={words.checkpointsHint}>
        <DataTable
          caption={words.checkpoints}
          columns={checkpoints}
          rows={data?.checkpoints ?? []}
          keyOf={({ size }) => `${size}`}
          isLoading={isLoading}
          error={error}
          empty={words.noCheckpoints}
        />
      </Part>
    </>
  )
}

function Part({ title, hint, children }: { title: string; hint: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text size="sm" c="dimmed">
        {hint}
      </Text>
      {children}
    </Stack>
  )
}

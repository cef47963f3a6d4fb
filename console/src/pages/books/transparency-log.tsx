// The transparency log: its size, the newest checkpoint and its file, the keys, and how many entries wait for it.
import { Alert, Badge, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { Time } from '../../format/time.tsx'
import { Figure } from '../../parts/figure.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { DownloadIcon } from '../../shell/icons.tsx'
import { useWords } from '../../words/words.tsx'
import { PublishedCheckpoints } from './published-checkpoints.tsx'

/** Shows how the worker adds entries. */
const refetchMs = 15_000
/** Served by the internal listener itself: the log has no personal data and needs no session. */
const checkpointPath = '/log/checkpoint'

export function TransparencyLog() {
  const { transparency: words } = useWords()
  const { data, error, refetch } = useEndpoint('transparencyLog', {}, { refetchMs })
  return (
    <Stack gap="lg">
      <Text c="dimmed" maw={760}>
        {words.intro}
      </Text>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data ? <State log={data} /> : !error && <Waiting />}
    </Stack>
  )
}

type Log = Data<'transparencyLog'>

function State({ log: { checkpoint, keys, waiting, waitingIsMore, heldBack } }: { log: Log }) {
  const { transparency: words } = useWords()
  const { number } = useFormats()
  return (
    <>
      {heldBack && (
        <Alert color="red" title={words.heldBack}>
          <Stack gap="xs">
            <Text size="sm">{words.heldBackText(heldBack.origin, number(heldBack.size))}</Text>
            <Group gap="xs">
              <Text size="sm">{words.restored}</Text>
              <Time at={heldBack.restoredAt} />
              <Id value={heldBack.restoreId} />
            </Group>
          </Stack>
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Figure label={words.size} value={number(checkpoint?.size ?? 0)} />
        <Figure
          label={words.waiting}
          value={waitingIsMore ? words.atLeast(number(waiting)) : number(waiting)}
          hint={waiting > 0 ? words.waitingHint : undefined}
        />
        {checkpoint && (
          <Figure
            label={words.written}
            value={
              <Text span fz="sm" fw={400}>
                <Time at={checkpoint.writtenAt} />
              </Text>
            }
          />
        )}
      </SimpleGrid>
      {checkpoint ? (
        <Section title={words.checkpoint} hint={words.saveHint}>
          <Group gap="xs">
            <Text size="sm">{words.root}</Text>
            <Id value={checkpoint.root} />
          </Group>
          {!heldBack && (
            <Button
              component="a"
              href={checkpointPath}
              download={`checkpoint-${checkpoint.size}.txt`}
              variant="default"
              leftSection={<DownloadIcon />}
              style={{ alignSelf: 'flex-start' }}
            >
              {words.save}
            </Button>
          )}
        </Section>
      ) : (
        <Alert color="gray">{words.none}</Alert>
      )}
      <Section title={words.keys} hint={words.keysHint}>
        {keys.map((key) => (
          <Group key={key} gap="xs">
            <Id value={key} />
            {!heldBack && (
              <Badge variant="light" color="gray" tt="none">
                {words.signs}
              </Badge>
            )}
          </Group>
        ))}
      </Section>
      <PublishedCheckpoints />
    </>
  )
}

function Section({ title, hint, children }: { title: string; hint: string; children: ReactNode }) {
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

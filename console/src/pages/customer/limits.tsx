// The limits of a customer and the thresholds of the low-credits alert.
import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Data } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useWords } from '../../words/words.tsx'

type Customer = Data<'customer'>

export function Limits({ customer: { customerId, limits } }: { customer: Customer }) {
  const { limits: words } = useWords().customers
  const { number } = useFormats()
  const mayManage = useMay('manage customers')
  const [isOpen, setIsOpen] = useState(false)
  const { pendingOrders, pendingOrdersAtMost: atMost, requestsPerSecond, lowCredits } = limits
  return (
    <Stack gap="sm" maw={640}>
      <Limit
        label={words.low}
        value={lowCredits.length === 0 ? words.lowNever : words.lowValue(lowCredits.map(number).join(', '))}
        hints={[words.lowHint]}
        action={
          mayManage && (
            <Button variant="default" size="xs" flex="none" onClick={() => setIsOpen(true)}>
              {words.lowChange}
            </Button>
          )
        }
      />
      <Limit
        label={words.pending}
        value={
          atMost === null
            ? `${number(pendingOrders)}, ${words.unlimited}`
            : words.pendingOf(number(pendingOrders), number(atMost))
        }
        hints={atMost === null ? [words.fixedHint] : [words.pendingHint, words.fixedHint]}
      />
      <Limit
        label={words.requests}
        value={requestsPerSecond === null ? words.unlimited : words.requestsValue(number(requestsPerSecond))}
        hints={requestsPerSecond === null ? [words.fixedHint] : [words.requestsHint, words.fixedHint]}
      />
      <LowCredits opened={isOpen} onClose={() => setIsOpen(false)} customerId={customerId} lowCredits={lowCredits} />
    </Stack>
  )
}

type LimitProps = { label: string; value: string; hints: string[]; action?: ReactNode }

function Limit({ label, value, hints, action }: LimitProps) {
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <dl style={{ margin: 0 }}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" m={0} fw={600}>
            {value}
          </Text>
          {hints.map((hint) => (
            <Text key={hint} component="dd" m={0} size="xs" c="dimmed">
              {hint}
            </Text>
          ))}
        </dl>
        {action}
      </Group>
    </Paper>
  )
}

type LowProps = { opened: boolean; onClose(): void; customerId: string; lowCredits: number[] }

/** Positive safe integers, ten at most. */
function areAcceptable(texts: string[]): boolean {
  return texts.length <= 10 && texts.every((text) => /^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text)))
}

function LowCredits({ opened, onClose, customerId, lowCredits }: LowProps) {
  const { limits: words } = useWords().customers
  /** Null: unchanged. */
  const [typed, setTyped] = useState<string | null>(null)
  const shown = typed ?? lowCredits.join(', ')
  const texts = shown.split(/[\s,]+/).filter((text) => text !== '')
  function close(): void {
    setTyped(null)
    onClose()
  }
  return (
    <ReasonDialog
      opened={opened}
      onClose={close}
      title={words.lowTitle}
      text={words.lowHint}
      action={words.lowAction}
      isBlocked={!areAcceptable(texts)}
      focus="first"
      endpoint="setLowCredits"
      refreshes={['customer', 'actionLog']}
      onDone={() => announce(words.lowSaved)}
      inputOf={(reason) => ({
        params: { customerId },
        body: { credits: texts.map(Number), reason },
      })}
    >
      <TextInput
        label={words.lowField}
        description={words.lowFieldHint}
        error={areAcceptable(texts) ? null : words.lowWrong}
        inputMode="numeric"
        value={shown}
        onChange={(event) => setTyped(event.currentTarget.value)}
        maxLength={100}
      />
    </ReasonDialog>
  )
}

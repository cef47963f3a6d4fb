// A few numbers, each in a line with its label: what an action will do.
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export type Line = { label: string; value: ReactNode }

export function LinesTable({ title, lines }: { title: string; lines: Line[] }) {
  return (
    <Table aria-label={title} captionSide="top">
      <Table.Caption ta="left">{title}</Table.Caption>
      <Table.Tbody>
        {lines.map(({ label, value }) => (
          <Table.Tr key={label}>
            <Table.Th scope="row" fw={400}>
              {label}
            </Table.Th>
            <Table.Td ta="right" fw={600}>
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

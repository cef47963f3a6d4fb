// The operators, the permissions of each role, and the commands that manage operators. For admins.
import { Code, Stack, Table, Text, Title } from '@mantine/core'
import type { Data } from '../../../../src/console/contract.ts'
import { may, type Permission, permissions, roles } from '../../../../src/operators/permissions.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'

type Operator = Data<'operators'>['operators'][number]

const commands = {
  add: 'operators add NAME --role ROLE',
  role: 'operators role NAME --role ROLE',
  reset: 'operators reset NAME',
  suspend: 'operators suspend NAME',
  activate: 'operators activate NAME',
} as const

export function OperatorsPage() {
  const { common, operators } = useWords()
  const { data, error, isLoading } = useEndpoint('operators', {})
  const columns: Column<Operator>[] = [
    { header: operators.name, place: 'title', cell: ({ name }) => <Text fw={600}>{name}</Text> },
    { header: operators.role, place: 'line', cell: ({ role }) => common.roles[role] },
    { header: operators.status, place: 'badge', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      header: operators.lastSeen,
      cell: ({ lastSeenAt }) => (lastSeenAt ? <Time at={lastSeenAt} /> : operators.never),
    },
    { header: operators.passwordSet, place: 'folded', cell: (operator) => <PasswordSet operator={operator} /> },
    { header: operators.created, place: 'folded', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  return (
    <>
      <PageHeader title={operators.title} />
      <Stack gap="xl">
        <DataTable
          caption={operators.caption}
          columns={columns}
          rows={data?.operators ?? []}
          keyOf={(operator) => operator.operatorId}
          isLoading={isLoading}
          error={error}
          empty={operators.empty}
        />
        <RoleTable />
        <Managing />
      </Stack>
    </>
  )
}

function PasswordSet({ operator: { passwordSetAt, mustChangePassword } }: { operator: Operator }) {
  const { operators } = useWords()
  return mustChangePassword ? operators.firstPassword : <Time at={passwordSetAt} />
}

function RoleTable() {
  const { common, operators } = useWords()
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {operators.rolesTitle}
      </Title>
      <Table horizontalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{operators.permission}</Table.Th>
            {roles.map((role) => (
              <Table.Th key={role} style={{ whiteSpace: 'nowrap' }}>
                {common.roles[role]}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {(Object.keys(permissions) as Permission[]).map((permission) => (
            <Table.Tr key={permission}>
              <Table.Th scope="row" fw={400}>
                {operators.permissions[permission]}
              </Table.Th>
              {roles.map((role) => (
                <Table.Td key={role} style={{ whiteSpace: 'nowrap' }} c={may(role, permission) ? undefined : 'dimmed'}>
                  {may(role, permission) ? operators.may : operators.mayNot}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

function Managing() {
  const { operators } = useWords()
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {operators.manageTitle}
      </Title>
      <Text>{operators.manageText}</Text>
      <dl style={{ margin: 0 }}>
        {(Object.keys(commands) as (keyof typeof commands)[]).map((command) => (
          <div key={command}>
            <dt>
              <Code>npm run -s credits -- {commands[command]}</Code>
            </dt>
            <Text component="dd" mx={0} mt={2} mb="sm">
              {operators.commandOf[command]}
            </Text>
          </div>
        ))}
      </dl>
    </Stack>
  )
}

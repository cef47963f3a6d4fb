// The frame around every page: navigation on the left, or behind a button on narrow screens, and a header with the search and the
// account. The first tab stop skips to the content.
import {
  AppShell,
  Burger,
  Button,
  Group,
  NavLink,
  Popover,
  Stack,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ComponentType, type ReactNode, useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import type { Permission } from '../../../src/operators/permissions.ts'
import { useMay, useSession, useSignOut } from '../api/hooks.ts'
import { useWords, type Words } from '../words/words.tsx'
import {
  ActionLogIcon,
  BooksIcon,
  CustomersIcon,
  DownIcon,
  EventsIcon,
  HomeIcon,
  OperatorsIcon,
  OrdersIcon,
  PersonIcon,
  TokensIcon,
} from './icons.tsx'
import { Preferences } from './preferences.tsx'
import { SearchBox } from './search-box.tsx'
import classes from './shell.module.css'

type Place = { path: string; name: keyof Words['common'] & string; icon: ComponentType; for: Permission }

const places = [
  { path: '/', name: 'home', icon: HomeIcon, for: 'read' },
  { path: '/orders', name: 'orders', icon: OrdersIcon, for: 'read' },
  { path: '/customers', name: 'customers', icon: CustomersIcon, for: 'read' },
  { path: '/books', name: 'books', icon: BooksIcon, for: 'read' },
  { path: '/events', name: 'events', icon: EventsIcon, for: 'read' },
  { path: '/services', name: 'services', icon: TokensIcon, for: 'read' },
  { path: '/trail', name: 'actionLog', icon: ActionLogIcon, for: 'read' },
  { path: '/operators', name: 'operators', icon: OperatorsIcon, for: 'see operators' },
] as const satisfies Place[]

const contentId = 'content'

export function Shell({ children }: { children: ReactNode }) {
  const { common } = useWords()
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const [path] = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the menu.
  useEffect(close, [path])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
      transitionDuration={0}
    >
      <a href={`#${contentId}`} className={classes.skip}>
        {common.skip}
      </a>
      <AppShell.Header className={classes.header}>
        <Burger
          opened={isOpen}
          onClick={toggle}
          hiddenFrom="sm"
          size="sm"
          aria-label={common.openNavigation}
          aria-expanded={isOpen}
        />
        <Text component={Link} href="/" fw={700} className={classes.product} visibleFrom="sm">
          {common.product}
        </Text>
        <SearchBox />
        <Account />
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={common.navigation}>
        {places.map((place) => (
          <PlaceLink key={place.path} {...place} isHere={isWithin(path, place.path)} />
        ))}
      </AppShell.Navbar>
      <AppShell.Main id={contentId} tabIndex={-1} className={classes.main}>
        <div className={classes.content}>{children}</div>
      </AppShell.Main>
    </AppShell>
  )
}

function isWithin(path: string, place: string): boolean {
  return place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`)
}

function PlaceLink(props: (typeof places)[number] & { isHere: boolean }) {
  const { path, name, icon: PlaceIcon, isHere } = props
  const { common } = useWords()
  if (!useMay(props.for)) return null
  return (
    <NavLink
      component={Link}
      href={path}
      label={common[name]}
      leftSection={<PlaceIcon />}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      className={classes.place}
    />
  )
}

function Account() {
  const { common } = useWords()
  const { name, role } = useSession()
  const signOut = useSignOut()
  const [isOpen, { toggle, close }] = useDisclosure(false)
  return (
    <Popover opened={isOpen} onDismiss={close} position="bottom-end" width={320} trapFocus returnFocus withRoles>
      <Popover.Target>
        <UnstyledButton className={classes.account} onClick={toggle}>
          <VisuallyHidden>{`${common.account}: ${name}, ${common.roles[role]}`}</VisuallyHidden>
          <PersonIcon />
          <Group gap={6} visibleFrom="sm" wrap="nowrap" aria-hidden="true">
            <Text fw={600} truncate maw={160}>
              {name}
            </Text>
            <Text size="xs" c="dimmed">
              {common.roles[role]}
            </Text>
          </Group>
          <DownIcon />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={common.account}>
        <Stack gap="sm">
          <Text fw={600}>{`${name} · ${common.roles[role]}`}</Text>
          <Group grow preventGrowOverflow={false} gap="xs">
            <Button component={Link} href="/password" variant="default" size="xs" onClick={close}>
              {common.changePassword}
            </Button>
            <Button variant="default" size="xs" onClick={signOut}>
              {common.signOut}
            </Button>
          </Group>
          <Preferences />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

// The pages inside their frame. A page that throws shows an error, and the navigation still works.
import { Anchor, Text } from '@mantine/core'
import { Component, type ReactNode, Suspense } from 'react'
import { Link, Route, Router, Switch, useLocation } from 'wouter'
import { Problem } from './parts/problem.tsx'
import { Waiting } from './parts/waiting.tsx'
import { routes } from './routes.tsx'
import { SessionGate } from './session-gate.tsx'
import { PageHeader } from './shell/page-header.tsx'
import { Shell } from './shell/shell.tsx'
import { useWords } from './words/words.tsx'

export function App() {
  return (
    <Router base="/console">
      <SessionGate>
        <Shell>
          <Pages />
        </Shell>
      </SessionGate>
    </Router>
  )
}

function Pages() {
  const [path] = useLocation()
  return (
    <ErrorBoundary key={path}>
      <Suspense fallback={<Waiting />}>
        <Switch>
          {routes.map(([address, page]) => (
            <Route key={address} path={address} component={page} />
          ))}
          <Route>
            <NoSuchPage />
          </Route>
        </Switch>
      </Suspense>
    </ErrorBoundary>
  )
}

function NoSuchPage() {
  const { common } = useWords()
  return (
    <>
      <PageHeader title={common.notFoundTitle} />
      <Text mb="sm">{common.notFoundText}</Text>
      <Anchor component={Link} href="/">
        {common.toHome}
      </Anchor>
    </>
  )
}

/** Reset by navigation. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render(): ReactNode {
    return this.state.error ? (
      <Problem error={this.state.error} onRetry={() => window.location.reload()} />
    ) : (
      this.props.children
    )
  }
}

// Starts the page of the console: its looks, its language, and how long what was asked is believed.
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './page.css'
import { MantineProvider, mergeThemeOverrides } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { isWorthRetrying } from './api/hooks.ts'
import { App } from './app.tsx'
import { contrast, theme } from './theme.ts'
import { LanguageProvider, useWords } from './words/words.tsx'

declare global {
  /** Where the part of Mantine's dialogs that stops the page behind them from scrolling looks for it. */
  var __webpack_nonce__: string | undefined
}

/** The only styles that may be made while the page runs are those with the word of this answer. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
globalThis.__webpack_nonce__ = nonce

// Without a network asking fails like everything else: nothing looks empty that was not seen, and no action waits for the
// network and then happens by itself.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: isWorthRetrying,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
    },
    mutations: { networkMode: 'always' },
  },
})

/** What closes something says so in the reader's language, wherever the library draws it. */
function Looks({ children }: { children: ReactNode }) {
  const { common } = useWords()
  const spoken = useMemo(() => {
    const closing = { defaultProps: { 'aria-label': common.close } }
    return mergeThemeOverrides(theme, { components: { CloseButton: closing } })
  }, [common.close])
  return (
    <MantineProvider
      theme={spoken}
      cssVariablesResolver={contrast}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      {children}
    </MantineProvider>
  )
}

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={queries}>
      <LanguageProvider>
        <Looks>
          <Notifications position="top-right" />
          <App />
        </Looks>
      </LanguageProvider>
    </QueryClientProvider>,
  )
}

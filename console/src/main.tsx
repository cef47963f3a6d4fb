// Starts the page of the console: theme, language, and the cache of API data.
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
  /** Read by the scroll lock of Mantine's dialogs. */
  var __webpack_nonce__: string | undefined
}

/** The content security policy allows inline styles only with the nonce of this response. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
globalThis.__webpack_nonce__ = nonce

// Without a network requests fail at once: no page looks empty by mistake, and no action is sent later by itself.
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

/** Translates the labels of the library's own close buttons. */
function Theme({ children }: { children: ReactNode }) {
  const { common } = useWords()
  const translated = useMemo(() => {
    const closing = { defaultProps: { 'aria-label': common.close } }
    return mergeThemeOverrides(theme, { components: { CloseButton: closing } })
  }, [common.close])
  return (
    <MantineProvider
      theme={translated}
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
        <Theme>
          <Notifications position="top-right" />
          <App />
        </Theme>
      </LanguageProvider>
    </QueryClientProvider>,
  )
}

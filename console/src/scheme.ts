// Sets the colour scheme before the first paint: a separate blocking script, since the policy forbids inline scripts. The key and
// the attribute are Mantine's.
export {}

/** Throws where the browser blocks storage. */
function chosenScheme(): string | null {
  try {
    return localStorage.getItem('mantine-color-scheme-value')
  } catch {
    return null
  }
}

const chosen = chosenScheme()
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')

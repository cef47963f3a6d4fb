// Light or dark before the first thing is drawn: a file of its own that the page waits for, since no script may stand in
// the page itself. The key and the attribute are those of Mantine.
export {}

/** Where a browser keeps nothing for pages, it throws. */
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

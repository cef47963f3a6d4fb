// The metrics and labels that a Prometheus expression names. Not a parser: enough to find unknown names.

export type Named = {
  metrics: string[]
  /** Label matchers, with their metric. */
  matchers: { metric: string; label: string; values: string[] | null }[]
  /** The labels of `by (…)`. */
  grouping: string[]
}

const keywords = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'bool', 'offset'])
const matcherPattern = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g

export function namesIn(expression: string): Named {
  const matchers = [...expression.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].flatMap(([, metric = '', inner = '']) =>
    [...inner.matchAll(matcherPattern)].map(([, label = '', , value = '']) => ({
      metric,
      label,
      values: value.includes('$') ? null : value.split('|'),
    })),
  )
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ')
  const groupings = [...bare.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)]
  const grouping = groupings.flatMap(([, labels = '']) => labels.split(',').map((label) => label.trim()))
  const names = bare
    .replaceAll(/\b(?:by|without)\s*\([^)]*\)/g, ' ')
    .matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)(?!\w)(?!\s*\()/g)
  return { metrics: [...names].map(([, name = '']) => name).filter((name) => !keywords.has(name)), matchers, grouping }
}

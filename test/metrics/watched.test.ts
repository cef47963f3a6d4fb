// The dashboard, the alerts and the documents name only existing metrics and labels, and all of ours are documented; the
// runbook sections named by alerts exist.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { repository } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { createDatabase } from '../../src/db/database.ts'
import { recordedAudit } from '../../src/payments/audit/audit.ts'
import { type Family, readExposition } from '../support/documents/exposition.ts'
import { namesIn } from '../support/documents/promql.ts'
import { startWholeService } from '../support/service/whole-service.ts'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const service = await startWholeService({ after })
await recordedAudit(createDatabase(service.database.pool, silentLog), 'DAILY', { onUnwritten: assert.fail })
await until('every job of the worker has run', async () => /task="forget_notifications"/.test(await service.scrape()))
const families = readExposition(await service.scrape())
/** From Prometheus itself, which reports for every target whether it was scraped: a dead instance cannot report that. */
const labelsOfTargets = ['instance', 'job']
const metricsOfTargets = ['up']

function samplesNamed(name: string) {
  return families.flatMap(({ samples }) => samples.filter((sample) => sample.name === name))
}

/** All names and labels in an expression that are not exported. */
function faultsOf(where: string, expression: string): string[] {
  const { metrics, matchers, grouping } = namesIn(expression)
  const labels = new Set(metrics.flatMap((name) => samplesNamed(name).flatMap((sample) => Object.keys(sample.labels))))
  return [
    ...(metrics.length === 0 ? [`${where}: no metric in ${expression}`] : []),
    ...metrics
      .filter((name) => samplesNamed(name).length === 0 && !metricsOfTargets.includes(name))
      .map((name) => `${where}: no metric ${name}`),
    ...grouping
      .filter((label) => !labels.has(label) && !labelsOfTargets.includes(label))
      .map((label) => `${where}: no label ${label}`),
    ...matchers.flatMap(({ metric, label, values }) => {
      if (labelsOfTargets.includes(label)) return []
      const existing = new Set(samplesNamed(metric).map((sample) => sample.labels[label]))
      if (values === null) return existing.has(undefined) ? [`${where}: no label ${label} of ${metric}`] : []
      return values
        .filter((value) => !existing.has(value))
        .map((value) => `${where}: no ${metric}{${label}="${value}"}`)
    }),
  ]
}

type Alert = Record<'alert' | 'expr' | 'for' | 'severity' | 'summary' | 'description' | 'runbook', string>

function readAlerts(): Alert[] {
  const blocks = read('ops/prometheus/alerts.yaml').split(/^ {6}- (?=alert: )/m)
  return blocks.slice(1).map((block) => {
    const fields = [...block.matchAll(/^\s*(alert|expr|for|summary|description|runbook): (.+)$/gm)]
    const severity = /labels: \{ severity: (\w+) \}/.exec(block)?.[1] ?? ''
    return { ...Object.fromEntries(fields.map(([, name, value]) => [name, value])), severity } as Alert
  })
}

type Panel = { title: string; type: string; targets?: { expr: string; legendFormat: string }[] }
const dashboard = JSON.parse(read('ops/grafana/credits.json')) as {
  panels: Panel[]
  schemaVersion: number
  templating: { list: { name: string; type: string; definition?: string }[] }
}

test('an expression with an unknown metric or label is detected', () => {
  assert.deepEqual(faultsOf('here', 'sum by (code) (rate(credits_http_requests_total{code="INT001"}[5m])) > 0'), [])
  const wrong = 'sum by (colour) (rate(credits_http_request_total[5m])) / max(credits_events_dead{why="x"})'
  assert.deepEqual(faultsOf('here', wrong), [
    'here: no metric credits_http_request_total',
    'here: no label colour',
    'here: no credits_events_dead{why="x"}',
  ])
})

test('every panel of the dashboard uses existing metrics, labels and values', () => {
  assert.ok(dashboard.schemaVersion >= 39)
  assert.deepEqual(
    dashboard.templating.list.map(({ name, type }) => `${name} ${type}`),
    ['datasource datasource', 'instance query'],
  )
  const panels = dashboard.panels.filter(({ type }) => type !== 'row')
  assert.deepEqual(
    dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title),
    ['Money', 'Requests', 'Gateway', 'Recovery', 'Outbox', 'Database', 'Process'],
  )
  const queries = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })))
  assert.ok(queries.length >= panels.length)
  assert.deepEqual(
    queries.flatMap(({ title, expr }) => faultsOf(title, expr)),
    [],
  )
  for (const { title, expr, legendFormat } of queries) {
    const { grouping } = namesIn(expr)
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      assert.ok(grouping.includes(label) || labelsOfTargets.includes(label), `${title}: ${label}`)
    }
  }
})

test('every alert uses existing metrics, has a waiting time, a severity and instructions', () => {
  const alerts = readAlerts()
  assert.equal(alerts.length, read('ops/prometheus/alerts.yaml').match(/- alert:/g)?.length)
  assert.deepEqual(
    alerts.flatMap(({ alert, expr }) => faultsOf(alert, expr)),
    [],
  )
  for (const each of alerts) {
    assert.match(each.for, /^\d+m$/, each.alert)
    assert.match(each.severity, /^(critical|warning)$/, each.alert)
    assert.ok(each.summary.length > 10 && each.description.length > 30, each.alert)
  }
  assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length)
})

test('every alert names a section of the runbook that exists', () => {
  const anchors = [...read('docs/operations.md').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
  for (const { alert, runbook } of readAlerts()) {
    const [file, anchor = ''] = runbook.split('#')
    assert.equal(file, 'docs/operations.md', alert)
    assert.ok(anchors.includes(anchor), `${alert}: no section #${anchor}`)
  }
})

test('the document lists every metric of ours with its type and labels, and no others', () => {
  const rows = [...read('docs/observability.md').matchAll(/^\| `(credits_\w+)` \| (\w+) \| (.*?) \|/gm)]
  const documented = rows.map(([, name, type, labels = '']) =>
    `${name} ${type} ${labels.replaceAll(/[`–]/g, '')}`.trim(),
  )
  const existing = families.filter(({ name }) => name.startsWith('credits_')).map(describe)
  assert.deepEqual(documented.toSorted(), existing.toSorted())
})

function describe({ name, type, samples }: Family): string {
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)).filter((label) => label !== 'le'))
  return `${name} ${type} ${[...labels].join(', ')}`.trim()
}

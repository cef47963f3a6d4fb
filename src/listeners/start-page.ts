// `/` of the internal listener: a page of links to what a person can open there. It says nothing about the service itself.
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { icon } from '../openapi/page.ts'

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
html { background: light-dark(#fff, #121212); color: light-dark(#1a1a1a, #eee) }
body { margin: 10vh auto; padding: 0 1.25rem; max-width: 34rem }
h1 { font-size: 1.5rem }
ul { padding: 0; list-style: none }
li { margin: 1rem 0 }
a { color: light-dark(#0b57d0, #8ab4f8); font-weight: 600 }
p { margin: 0 }
`

const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

type Texts = { title: string; links: Record<string, [name: string, description: string]> }

const texts: Record<'en' | 'ko', Texts> = {
  en: {
    title: 'Prepaid Credits: internal listener',
    links: {
      '/console': ['Console', 'For operators: orders, customers, reconciliation.'],
      '/docs': ['API reference', 'Both APIs and the events, with examples.'],
      '/openapi.json': ['API document', 'The same for programs, OpenAPI 3.1.'],
      '/readyz': ['Health', 'Whether the service can serve, and why not.'],
      '/metrics': ['Metrics', 'The numbers of this process, for Prometheus.'],
    },
  },
  ko: {
    title: 'Prepaid Credits 내부 리스너',
    links: {
      '/console': ['콘솔', '주문, 고객, 대사를 관리하는 운영자 화면입니다.'],
      '/docs': ['API 문서', '두 API와 이벤트를 예시와 함께 설명합니다. (영어)'],
      '/openapi.json': ['API 명세 파일', '같은 내용을 프로그램에서 읽을 수 있는 OpenAPI 3.1 파일입니다.'],
      '/readyz': ['상태 확인', '서비스가 요청을 처리할 수 있는지, 없다면 이유를 알려 줍니다.'],
      '/metrics': ['지표', '이 프로세스의 지표를 Prometheus 형식으로 제공합니다.'],
    },
  },
}

/** To be called after the other routes: it links to those that are there. */
export function startPage(app: FastifyInstance): void {
  const isServed = (url: string) => app.hasRoute({ method: 'GET', url })
  const pages = { en: pageOf('en', isServed), ko: pageOf('ko', isServed) }
  app.get('/', { config: { open: true, documented: 'no API' } }, async (request, reply) => {
    const language = /^ko\b/i.test(request.headers['accept-language'] ?? '') ? 'ko' : 'en'
    return reply
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .type('text/html; charset=utf-8')
      .send(pages[language])
  })
}

function pageOf(language: 'en' | 'ko', isServed: (url: string) => boolean): string {
  const { title, links } = texts[language]
  const items = Object.entries(links)
    .filter(([url]) => isServed(url))
    .map(([url, [name, description]]) => `<li><a href="${url}">${name}</a><p>${description}</p></li>`)
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<ul>
${items.join('\n')}
</ul>
</main>
</body>
</html>
`
}

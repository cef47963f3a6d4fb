// `npm run openapi`: writes the API document to openapi.json, where callers, tools and the reference page find it.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { apiDocumentText } from './api-document.ts'

writeFileSync(fileURLToPath(new URL('../../openapi.json', import.meta.url)), apiDocumentText())

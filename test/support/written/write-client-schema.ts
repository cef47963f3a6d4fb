// `npm run client-schema`: writes client/src/schema.ts after a change of the API document.
import { writeFileSync } from 'node:fs'
import { clientSchemaFile, makeClientSchema } from './client-schema.ts'

writeFileSync(clientSchemaFile, await makeClientSchema())

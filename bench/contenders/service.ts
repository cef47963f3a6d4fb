// The service itself, as `npm start` starts it in production.
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'
import { announce, portOf } from './contender.ts'

const config = readConfig()
const service = await startService(config, pino({ level: config.logLevel }))
const { publicUrl, internalUrl, close } = service
announce({ publicPort: portOf(publicUrl), internalPort: portOf(internalUrl) }, close)

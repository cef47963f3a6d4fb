// Sends a test event to an endpoint for an operator: signed, checked and limited like every other event, and not stored. A disabled
// endpoint gets it too: that is how it is tried before it is enabled.

import { readDatabaseTime } from '../../db/database.ts'
import { type DeliveryContext, type Sent, send } from '../deliver.ts'
import type { Endpoint } from '../endpoints.sql.ts'

export const testEventType = 'endpoint.test'

export async function sendTestEvent(context: DeliveryContext, endpoint: Endpoint): Promise<Sent> {
  const readAtMs = performance.now()
  const event = {
    eventNumber: 0,
    eventId: crypto.randomUUID(),
    type: testEventType,
    data: { endpointId: endpoint.endpointId },
    createdAt: await readDatabaseTime(context.database),
    ageMs: 0,
  }
  return send(context, endpoint, event, readAtMs)
}

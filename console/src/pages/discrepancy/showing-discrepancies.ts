// What shows a discrepancy or counts it, and is asked for anew after one was resolved.
import type { EndpointName } from '../../api/client.ts'

export const showingDiscrepancies: EndpointName[] = ['discrepancies', 'discrepancy', 'days', 'home', 'order', 'trail']

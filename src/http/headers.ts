// Headers as they were sent. Node joins the values of a repeated header, or drops all but the first; its list of all values is
// built for each request, which costs more than searching the few raw headers.
import type { IncomingMessage } from 'node:http'

/** Every value of a header; the name is in lower case. */
export function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] as string
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[index + 1] as string)
  }
  return values
}

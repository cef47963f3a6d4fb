// Headers as they were sent. Node joins the values of a header that comes more than once, or drops all but the first; its
// list of them all is made anew for each request, which costs more than a look at the few that one has.
import type { IncomingMessage } from 'node:http'

/** Every value of a header, by its name in small letters. */
export function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = []
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const sent = rawHeaders[place] as string
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[place + 1] as string)
  }
  return values
}

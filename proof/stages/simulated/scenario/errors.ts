// To which process an error belongs that nothing has caught: one of a service or of the gateway is a finding, any other is of
// the run itself.
import { currentLife } from '../core/processes.ts'
import { gatewayName } from '../world/gateway.ts'

const products = ['a', 'b', gatewayName]
/** Lines of the history that are no events: what the load has noted. */
const noted = 'note'

export function watchErrors(onLine: (line: string) => void = () => undefined) {
  const processes = new Map<unknown, string | undefined>()
  let owner = ''
  // For a promise or a callback: the process in which it was made, although the event may be another's.
  const remember = (error: unknown) => void (processes.has(error) || processes.set(error, currentLife()?.name))
  process.on('uncaughtException', remember)
  process.on('unhandledRejection', remember)
  return {
    remember,
    onLine(line: string): void {
      const [, name = ''] = line.split(' ', 2)
      if (name !== noted) owner = name
      onLine(line)
    },
    /** The process of an error that ended the run: where nothing else is known, the one whose event threw it. */
    processOf(error: unknown): { name: string; isOfProduct: boolean } {
      const name = (processes.has(error) ? processes.get(error) : owner) ?? 'the harness'
      return { name, isOfProduct: products.includes(name) }
    },
    close(): void {
      process.off('uncaughtException', remember)
      process.off('unhandledRejection', remember)
    },
  }
}

// Joins the rows of several groups of customers into one sequence, in the order of the primary key. Each group is in that order
// already, a key begins with the customer, and all rows of a customer are in one group: comparing the customers is enough.

const [newline, tab] = [0x0a, 0x09]
const uuidLength = 36

/** Consecutive rows of one customer, not necessarily all of them. */
type Run = { customer: string; rows: Buffer }

/** `column`: the place of the customer's id in a row. */
export async function* mergeByCustomer(groups: AsyncIterable<Buffer>[], column: number): AsyncGenerator<Buffer> {
  const runs = groups.map((rows) => runsOf(rows, column))
  const heads = await Promise.all(runs.map(async (own) => ({ own, head: (await own.next()).value as Run | undefined })))
  for (;;) {
    let least: (typeof heads)[number] | undefined
    for (const each of heads) {
      if (each.head && !(least?.head && least.head.customer <= each.head.customer)) least = each
    }
    if (!least?.head) return
    yield least.head.rows
    least.head = (await least.own.next()).value as Run | undefined
  }
}

async function* runsOf(chunks: AsyncIterable<Buffer>, column: number): AsyncGenerator<Run> {
  let held = Buffer.alloc(0)
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk])
    let [start, end, customer] = [0, 0, '']
    for (let next = held.indexOf(newline) + 1; next > 0; next = held.indexOf(newline, end) + 1) {
      const own = customerOf(held, end, column)
      if (own !== customer && end > start) yield { customer, rows: held.subarray(start, end) }
      if (own !== customer) [start, customer] = [end, own]
      end = next
    }
    if (end > start) yield { customer, rows: held.subarray(start, end) }
    held = held.subarray(end)
  }
}

function customerOf(text: Buffer, rowStart: number, column: number): string {
  let at = rowStart
  for (let passed = 0; passed < column; passed += 1) at = text.indexOf(tab, at) + 1
  return text.toString('latin1', at, at + uuidLength)
}

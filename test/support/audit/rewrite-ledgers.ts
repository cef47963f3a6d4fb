// Makes ledgers right again after somebody has changed them, as a forger with all rights would: what the chain of hashes
// alone cannot tell, and what else gives it away.

/** To be created first: the hash of a whole chain, step by step. */
export const createChainHash = `create aggregate chain_hash
  (uuid, bigint, text, bigint, bigint, text, text, timestamptz, bigint, bigint, uuid, text)
  (sfunc = ledger_entry_hash, stype = bytea, initcond = '')`

/** The hashes that the entries would have, and those of the accounts. */
export const rewriteHashes = `
  update ledger_entries e set entry_hash = c.hash
  from (select customer_id, entry_number,
               chain_hash(customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at,
                          held_delta, held_after, hold_id, service_id) over chain as hash
        from ledger_entries window chain as (partition by customer_id order by entry_number)) c
  where c.customer_id = e.customer_id and c.entry_number = e.entry_number;
  update accounts a set last_hash = e.entry_hash from ledger_entries e
  where e.customer_id = a.customer_id and e.entry_number = a.last_entry`

/** After a change of the deltas: balances, what is held, hashes and accounts as if so from the beginning. */
export const rewriteLedgers = `
  update ledger_entries e set balance_after = c.balance, held_after = c.held
  from (select customer_id, entry_number, sum(delta) over chain as balance, sum(held_delta) over chain as held
        from ledger_entries window chain as (partition by customer_id order by entry_number)) c
  where c.customer_id = e.customer_id and c.entry_number = e.entry_number;
  update accounts a
  set balance = e.balance_after, held = e.held_after, last_entry = e.entry_number,
      moved_at = greatest(moved_at, e.created_at)
  from (select distinct on (customer_id) * from ledger_entries order by customer_id, entry_number desc) e
  where e.customer_id = a.customer_id;
  ${rewriteHashes}`

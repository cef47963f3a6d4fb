// An icon for each kind of moment, hidden from screen readers: the sentence beside it has the same meaning.
import type { MomentKind } from './moment-text.ts'

/** SVG paths on a grid of 24 by 24. */
const lines: Record<MomentKind, string> = {
  // a basket
  PURCHASE: 'M4 7h16l-1.5 11h-13zM9 11v3M15 11v3M8 7l2-4M16 7l-2-4',
  // an arrow that leaves
  OPERATION_BEGUN: 'M4 12h14M12 6l6 6-6 6',
  // a question
  ATTEMPT: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5',
  // an arrow that comes back
  OPERATION_ENDED: 'M20 12H6M12 6l-6 6 6 6',
  // a pile of coins
  LEDGER:
    'M5 7c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3zM5 7v10c0 1.7 3.1 3 7 3s7-1.3 7-3V7M5 12c0 1.7 3.1 3 7 3s7-1.3 7-3',
  // an envelope
  EVENT: 'M4 6h16v12H4zM4 7l8 6 8-6',
  // a bell
  WEBHOOK: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 20.5h4',
  // a warning
  DISCREPANCY_FOUND: 'M12 4 3 19.5h18zM12 10v4.5M12 17v.5',
  // a tick
  DISCREPANCY_RESOLVED: 'M5 12.5l4.5 4.5L19 7.5',
  // a person
  OPERATOR: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM5 20c0-3.5 3-6 7-6s7 2.5 7 6',
}

export function MomentIcon({ kind }: { kind: MomentKind }) {
  return (
    <svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={lines[kind] ?? ''}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}

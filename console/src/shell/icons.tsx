// The icons of the page, on a grid of 24. None stands alone: a label is always beside it or on its button.
import type { ReactNode } from 'react'

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg
      width="1.15em"
      height="1.15em"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  )
}

const drawn = (path: string) => () => (
  <Icon>
    <path d={path} />
  </Icon>
)

export const HomeIcon = drawn('M4 11 12 4l8 7M6 9.5V20h12V9.5M10 20v-6h4v6')
export const OrdersIcon = drawn('M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6')
export const CustomersIcon = drawn(
  'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM2 21c0-4 3-6.5 7-6.5s7 2.5 7 6.5M16 3.5a4 4 0 0 1 0 7M18 15c2.5.7 4 2.8 4 6',
)
export const BooksIcon = drawn('M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11M9 8h6')
export const ActionLogIcon = drawn('M12 7v5l3 2M21 12a9 9 0 1 1-3-6.7M21 3v4h-4')
export const OperatorsIcon = drawn('M12 3 4 6v6c0 5 3.5 8 8 9 4.5-1 8-4 8-9V6zM9 12l2 2 4-4')
export const SearchIcon = drawn('M10.5 18a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15ZM16 16l5 5')
export const CopyIcon = drawn('M9 9h11v12H9zM5 15H4V3h11v2')
export const CheckIcon = drawn('M4 12.5 9.5 18 20 6.5')
export const WarningIcon = drawn('M12 4 2.5 20h19zM12 10v5M12 17.5v.5')
export const PersonIcon = drawn('M12 12a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM4 21c0-4.5 3.5-6.5 8-6.5s8 2 8 6.5')
export const DownIcon = drawn('m6 9 6 6 6-6')
export const SortIcon = drawn('m8 9 4-4 4 4M8 15l4 4 4-4')
export const UpIcon = drawn('m6 15 6-6 6 6')
export const DownloadIcon = drawn('M12 3v12M7 10.5l5 5 5-5M4 20h16')

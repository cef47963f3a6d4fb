// Shows the result of an action as a notification, also for screen readers.
import { notifications } from '@mantine/notifications'

/** A failure stays until it is closed. */
const looks = {
  good: { color: 'teal', role: 'status', autoClose: 8000 },
  bad: { color: 'red', role: 'alert', autoClose: false },
} as const

export function announce(message: string, tone: keyof typeof looks = 'good'): void {
  notifications.show({ message, ...looks[tone] })
}

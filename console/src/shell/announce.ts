// Says what came of an action, to the eye and to the ear.
import { notifications } from '@mantine/notifications'

/** What failed stays until it is closed. */
const looks = {
  good: { color: 'teal', role: 'status', autoClose: 8000 },
  bad: { color: 'red', role: 'alert', autoClose: false },
} as const

export function announce(message: string, tone: keyof typeof looks = 'good'): void {
  notifications.show({ message, ...looks[tone] })
}

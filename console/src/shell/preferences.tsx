// Language and colour scheme. Stored on this device and not part of any link.
import { Group, SegmentedControl, useMantineColorScheme } from '@mantine/core'
import { type Language, languages, useLanguage } from '../words/words.tsx'

export function Preferences() {
  const { words, language, setLanguage } = useLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { common } = words
  return (
    <Group gap="xs" justify="space-between">
      <SegmentedControl
        size="xs"
        aria-label={common.language}
        value={language}
        onChange={(value) => setLanguage(value as Language)}
        data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
      />
      <SegmentedControl
        size="xs"
        aria-label={common.appearance}
        value={colorScheme}
        onChange={(value) => setColorScheme(value as typeof colorScheme)}
        data={[
          { value: 'light', label: common.light },
          { value: 'dark', label: common.dark },
          { value: 'auto', label: common.system },
        ]}
      />
    </Group>
  )
}

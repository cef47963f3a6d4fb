// The theme of the console: dense, with tabular digits, and the text contrast of WCAG AA in both colour schemes.
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

const ink: MantineColorsTuple = [
  '#eff3fd',
  '#dbe3f7',
  '#b6c6ee',
  '#8fa7e5',
  '#6d8cdd',
  '#5679d7',
  '#456acb',
  '#3658b3',
  '#2c4a9c',
  '#203a80',
]

/** System fonts; the Korean ones of Apple, Windows, Android and Linux by name. */
const fonts = [
  'system-ui',
  '-apple-system',
  '"Segoe UI"',
  'Roboto',
  '"Apple SD Gothic Neo"',
  '"Malgun Gothic"',
  '"Noto Sans KR"',
  '"Noto Sans CJK KR"',
  'sans-serif',
].join(', ')

export const theme = createTheme({
  colors: { ink },
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  fontFamily: fonts,
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontFamily: fonts, fontWeight: '650' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Text: { defaultProps: { size: 'sm' } },
    Anchor: { defaultProps: { underline: 'hover' } },
    Table: { defaultProps: { withRowBorders: true } },
    Modal: { defaultProps: { centered: true } },
    // A <header> in a dialog would be a second banner of the page.
    ModalHeader: { defaultProps: { component: 'div' } },
    // Targets of 24 px and more.
    SegmentedControl: { styles: { label: { minHeight: 24 } } },
    Chip: { styles: { label: { minHeight: 24 } } },
    // One line that scrolls on a narrow screen.
    Tabs: {
      styles: {
        list: {
          flexWrap: 'nowrap',
          overflowX: 'auto',
          overflowY: 'hidden',
          // Does not scroll with the tabs, as their own line does.
          boxShadow: 'inset 0 -2px var(--mantine-color-default-border)',
        },
        tab: { flexShrink: 0 },
      },
    },
  },
})

/** The library's grey and red are too pale for AA, as are its texts on light green and yellow. */
export const contrast: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-ink-8)',
    '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled-hover': '#b02525',
    '--mantine-color-teal-light-color': '#06664a',
    '--mantine-color-yellow-light-color': '#7a4a00',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-ink-3)',
    '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled-hover': '#b02525',
  },
})

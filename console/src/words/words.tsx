// The texts of the page in two languages. English defines the type: a missing Korean text does not compile. The default is the
// language of the browser; a choice is stored on this device. Numbers and times follow the browser's variant of the language.
import { useLocalStorage } from '@mantine/hooks'
import { createContext, type ReactNode, use, useEffect, useMemo } from 'react'
import * as englishActionLog from './en/action-log.ts'
import * as englishAudits from './en/audits.ts'
import * as englishBooks from './en/books.ts'
import * as englishCommon from './en/common.ts'
import * as englishCustomers from './en/customers.ts'
import * as englishDiscrepancy from './en/discrepancy.ts'
import * as englishEvents from './en/events.ts'
import * as englishGateway from './en/gateway.ts'
import * as englishHome from './en/home.ts'
import * as englishOperators from './en/operators.ts'
import * as englishOrders from './en/orders.ts'
import * as englishProblems from './en/problems.ts'
import * as englishSession from './en/session.ts'
import * as englishTimeline from './en/timeline.ts'
import * as koreanActionLog from './ko/action-log.ts'
import * as koreanAudits from './ko/audits.ts'
import * as koreanBooks from './ko/books.ts'
import * as koreanCommon from './ko/common.ts'
import * as koreanCustomers from './ko/customers.ts'
import * as koreanDiscrepancy from './ko/discrepancy.ts'
import * as koreanEvents from './ko/events.ts'
import * as koreanGateway from './ko/gateway.ts'
import * as koreanHome from './ko/home.ts'
import * as koreanOperators from './ko/operators.ts'
import * as koreanOrders from './ko/orders.ts'
import * as koreanProblems from './ko/problems.ts'
import * as koreanSession from './ko/session.ts'
import * as koreanTimeline from './ko/timeline.ts'

const english = {
  ...englishCommon,
  ...englishProblems,
  ...englishSession,
  ...englishHome,
  ...englishOrders,
  ...englishTimeline,
  ...englishGateway,
  ...englishCustomers,
  ...englishBooks,
  ...englishAudits,
  ...englishDiscrepancy,
  ...englishEvents,
  ...englishActionLog,
  ...englishOperators,
}
export type Words = typeof english

const korean: Words = {
  ...koreanCommon,
  ...koreanProblems,
  ...koreanSession,
  ...koreanHome,
  ...koreanOrders,
  ...koreanTimeline,
  ...koreanGateway,
  ...koreanCustomers,
  ...koreanBooks,
  ...koreanAudits,
  ...koreanDiscrepancy,
  ...koreanEvents,
  ...koreanActionLog,
  ...koreanOperators,
}

export const languages = { ko: '한국어', en: 'English' } as const
export type Language = keyof typeof languages

const wordsOf: Record<Language, Words> = { ko: korean, en: english }
const usualLocale: Record<Language, string> = { ko: 'ko-KR', en: 'en-US' }

type LanguageState = { language: Language; locale: string; words: Words; setLanguage(language: Language): void }

const LanguageContext = createContext<LanguageState | null>(null)

function languageOfBrowser(): Language {
  const preferred = navigator.languages.map((each) => each.slice(0, 2))
  return preferred.find((each): each is Language => each in languages) ?? 'en'
}

function localeOf(language: Language): string {
  const preferred = navigator.languages.find((each) => each.startsWith(`${language}-`) && isLocale(each))
  return preferred ?? usualLocale[language]
}

/** Where the locale of the machine is C, the language of Chromium is `en-US@posix`, which is none. */
function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0
  } catch {
    return false
  }
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useLocalStorage<Language>({
    key: 'console-language',
    defaultValue: languageOfBrowser(),
    getInitialValueInEffect: false,
    deserialize: (text) => (text && text in languages ? (text as Language) : languageOfBrowser()),
    serialize: (value) => value,
  })
  useEffect(() => document.documentElement.setAttribute('lang', language), [language])
  const state = useMemo(
    () => ({ language, locale: localeOf(language), words: wordsOf[language], setLanguage }),
    [language, setLanguage],
  )
  return <LanguageContext value={state}>{children}</LanguageContext>
}

export function useLanguage(): LanguageState {
  const state = use(LanguageContext)
  if (!state) throw new Error('LanguageProvider is missing.')
  return state
}

export function useWords(): Words {
  return useLanguage().words
}

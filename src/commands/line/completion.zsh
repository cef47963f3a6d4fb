#compdef credits
# Completes "credits" in zsh. Written by: credits completion zsh
_credits() {
  local index typed=''
  local -a found
  # The words typed so far, without options and their values.
  for ((index = 2; index < CURRENT; index++)); do
    case ${words[index]} in
      (--json|--yes|--help|-h|--*=*) ;;
      (-*) ((index++)) ;;
      (*) typed="$typed ${words[index]}" ;;
    esac
  done
  case "$typed ${words[CURRENT - 1]}" in
    #: values
    (*' '(--json|--yes|--help|-h|--*=*)) ;;
    (*' '--*) _message value; return ;;
  esac
  case "$typed " in
    #: words
  esac
  _describe credits found
}
if [[ ${funcstack[1]} == _credits ]]; then
  _credits "$@"
else
  compdef _credits credits
fi

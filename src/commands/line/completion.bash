# Completes "credits" in bash. Written by: credits completion bash
_credits() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local index option typed='' options='' words='' list='' files=''
  # bash splits --kind=SPEND into three words.
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  # The words typed so far, without options and their values.
  for ((index = 1; index < COMP_CWORD; index++)); do
    case ${COMP_WORDS[index]} in
      --json | --yes | --help | -h) ;;
      -*)
        [[ ${COMP_WORDS[index + 1]} == = ]] && index=$((index + 1))
        index=$((index + 1))
        ;;
      *) typed="$typed ${COMP_WORDS[index]}" ;;
    esac
  done
  case "$typed " in
    #: words
  esac
  case "$typed $before" in
    #: values
    *' '--json | *' '--yes | *' '--help | *' '-h) ;;
    # The values of all other options are free text.
    *' '--*) options='' words='' files='' ;;
  esac
  COMPREPLY=()
  if [[ $list && $word == *,* ]]; then
    COMPREPLY=($(compgen -P "${word%,*}," -W "$words" -- "${word##*,}"))
    return
  fi
  [[ $word == -* ]] || COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ $files && $word != -* ]] && compopt -o default 2> /dev/null && return
  # The remaining options, if nothing else matches.
  [[ ${#COMPREPLY[@]} == 0 ]] || return
  for option in $(compgen -W "$options" -- "$word"); do
    [[ " ${COMP_WORDS[*]:0:COMP_CWORD} " == *" $option "* ]] || COMPREPLY+=("$option")
  done
}
complete -F _credits credits

# Completes kbench's command line in bash. kbench itself says what the words are: completion.h.
_kbench() {
  local cur=${COMP_WORDS[COMP_CWORD]} program=${1/#\~\//$HOME/} action=
  local before paths stays word words=()
  # bash parts words at = and :, and takes such a sign alone for an empty word to complete.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#words[@]})) && [[ $word == [=:]* || ${words[-1]} == *[=:] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  [[ $cur == [=:] ]] && cur=
  before=${words[-1]%"$cur"}
  COMPREPLY=()
  {
    IFS= read -r word
    paths=${word%%$'\t'*} stays=${word#*$'\t'}
    while IFS= read -r word; do COMPREPLY+=("$stays${word%%$'\t'*}"); done
  } < <("$program" complete-words "${words[@]}" 2>/dev/null)
  case $paths in
    files) action="file" ;;
    folders) action="directory" ;;
  esac
  if [[ -n $action ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do
      COMPREPLY+=("$stays$word")
    done < <(compgen -A "$action" -- "${words[-1]#"$stays"}")
  fi
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  # What goes on: a level's tasks, the number behind "faster:".
  ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[/:] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _kbench kbench

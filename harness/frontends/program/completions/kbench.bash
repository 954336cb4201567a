# Completes kbench's command line in bash. kbench says what the words are; without any, files.
_kbench() {
  local line program=${1/#\~\//$HOME/}
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <("$program" complete-words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _kbench kbench

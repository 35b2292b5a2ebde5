/**
 * What a shell needs to complete the program's arguments. Each script asks `signalbox complete` with the words so far, of which the last
 * is the one to complete, and gets a candidate a line, followed by a tab and what it is. Without candidates the shell offers files.
 */
export const completionScripts = {
  bash: `_signalbox() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(signalbox complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _signalbox signalbox`,
  zsh: `#compdef signalbox
_signalbox() {
  local -a found
  local line
  for line in "\${(@f)$(signalbox complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#found )); then _describe signalbox found; else _files; fi
}
compdef _signalbox signalbox`,
  fish: `function __signalbox_complete
  set -l found (signalbox complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c signalbox -f -a '(__signalbox_complete)'`,
} as const;

export type Shell = keyof typeof completionScripts;

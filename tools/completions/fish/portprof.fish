# SPDX-License-Identifier: MIT
# Completion of portprof(1) for fish. What it offers is what the installed
# command's --help names, so that the two cannot differ.

function __portprof_verbs
    portprof --help 2>/dev/null |
        string replace -rf '^  ([a-z]+) {2,}(.*)' '$1\t$2'
end

function __portprof_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

function __portprof_needs_verb
    test (count (commandline -opc)) -eq 1
end

# long and short options of the verb, one a line
function __portprof_options
    portprof (__portprof_verb) --help 2>/dev/null |
        string match -rg '^ {2,6}(--?[A-Za-z-]+(?:, --[a-z-]+)?)' |
        string split ', '
end

function __portprof_events
    portprof list 2>/dev/null | string match -rg '^  ([A-Za-z][A-Za-z0-9_.-]*)(?: |$)'
end

function __portprof_functions
    portprof report -n 100 -x '|' 2>/dev/null | tail -n +2 |
        string replace -r '.*\|' '' | string replace -r '[(].*' '' |
        string replace -ar '<[^<>]*>' '' | string replace -r '.*::' '' | string match -r '^[A-Za-z_~].*' | sort -u
end

function __portprof_before
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

complete -c portprof -n __portprof_needs_verb -f -a '(__portprof_verbs)'
complete -c portprof -n '__portprof_before help' -f -a '(__portprof_verbs)'
complete -c portprof -n 'not __portprof_needs_verb' -a '(__portprof_options)'
complete -c portprof -n '__portprof_before -e --event -M --metrics' -f -a '(__portprof_events)'
complete -c portprof -n '__portprof_before -p --pid' -f -a '(__fish_complete_pids)'
complete -c portprof -n '__portprof_before --color' -f -a 'auto always never'
complete -c portprof -n '__portprof_before --call-graph' -f -a 'auto dwarf fp none'
complete -c portprof -n '__portprof_before -b --backend' -f -a 'auto perf timer itimer rusage'
complete -c portprof -n '__portprof_before --callers --callees --focus --function annotate' \
    -f -a '(__portprof_functions)'

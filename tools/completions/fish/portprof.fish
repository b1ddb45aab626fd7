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

# behind what stands before the last comma
function __portprof_events
    set -l before (string match -r '^.*,' -- (commandline -ct))
    portprof list 2>/dev/null |
        string match -rg '^  ([A-Za-z][A-Za-z0-9_.-]*)(?: |$)' |
        string replace -r '^' "$before"
end

# the words that the value of the last option may be, behind what stands before the
# last comma
function __portprof_values
    set -l words (commandline -opc)
    set -l before (string match -r '^.*,' -- (commandline -ct))
    string match -q -- '-*' $words[-1]; or return 1
    portprof help $words[2] $words[-1] 2>/dev/null |
        string match -rg '^  ([a-z-]+)$' | string replace -r '^' "$before"
end

# whether the value of the last option stands behind it, so that no command does
function __portprof_takes_value
    set -l words (commandline -opc)
    string match -q -- '-*' $words[-1]; or return 1
    portprof help $words[2] $words[-1] 2>/dev/null | head -n 1 |
        string match -rq -- '-[A-Za-z-]+ [A-Z=]+  '
end

# the profile that is on the line already, if any
function __portprof_profile
    for word in (commandline -opc)[3..]
        test -f $word; and echo $word
    end | tail -n 1
end

# what a profile has in the column of that name, by key; behind what stands before the
# last comma
function __portprof_column
    set -l profile (__portprof_profile)
    test -n "$profile"; or set profile portprof.pb.gz
    set -l before (string match -r '^.*,' -- (commandline -ct))
    set -l rows (portprof report -n 0 -x '|' -s $argv[2] -i $profile 2>/dev/null)
    set -l at (contains -i -- $argv[1] (string split '|' -- $rows[1])); or return
    for row in $rows[2..]
        set -l fields (string split '|' -- (string replace -a '"' '' -- $row))
        string replace -r '.*/' '' -- $fields[$at]
    end | string match -rv '^[(]| ' | string replace -r '^' "$before" | sort -u
end

# the hot ones, by the last part of their name
function __portprof_functions
    set -l profile (__portprof_profile)
    test -n "$profile"; or set profile portprof.pb.gz
    portprof report -n 100 -x '|' -i $profile 2>/dev/null | tail -n +2 |
        string replace -r '.*\|' '' | string replace -r '[(].*' '' |
        string replace -ar '<[^<>]*>' '' | string replace -r '.*::' '' | string match -r '^[A-Za-z_~].*' | sort -u
end

function __portprof_before
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

# behind -- there is a command of its own
function __portprof_behind_separator
    contains -- -- (commandline -opc)
end

function __portprof_is_verb
    contains -- (__portprof_verb) $argv; and not __portprof_behind_separator
end

complete -c portprof -n __portprof_needs_verb -f -a '(__portprof_verbs)'
complete -c portprof -n '__portprof_before help' -f -a '(__portprof_verbs)'
complete -c portprof -n 'string match -q -- "-*" (commandline -ct); and not __portprof_behind_separator' -a '(__portprof_options)'
complete -c portprof -n '__portprof_before -e --event -M --metrics; and not __portprof_is_verb report annotate diff browse export' \
    -f -a '(__portprof_events)'
complete -c portprof -n '__portprof_before -e --event; and __portprof_is_verb report annotate diff browse export' \
    -f -a '(__portprof_column event module)'
complete -c portprof -n '__portprof_before --thread' -f -a '(__portprof_column thread thread)'
complete -c portprof -n '__portprof_before --module' -f -a '(__portprof_column module module)'
complete -c portprof -n '__portprof_before --wait' -f -a '(__portprof_column wait wait)'
complete -c portprof -n '__portprof_before -p --pid; and not __portprof_is_verb report' -f -a '(__fish_complete_pids)'
complete -c portprof -n '__portprof_before --name' -f -a '(__fish_complete_proc)'
complete -c portprof -n '__portprof_before -t --tid' -f -a '(ps -eL -o lwp= | string trim)'
complete -c portprof -n '__portprof_before --unit' \
    -f -a '(systemctl list-units --plain --no-legend --no-pager 2>/dev/null | string replace -r " .*" "")'
complete -c portprof -n '__portprof_values >/dev/null' -f -a '(__portprof_values)'
complete -c portprof -n '__portprof_behind_separator; or begin; __portprof_is_verb record stat top; and not __portprof_takes_value; end' \
    -a '(__fish_complete_command)'
complete -c portprof -n '__portprof_before --peek --callers --callees --focus --function; or begin; __portprof_before -p; and __portprof_is_verb report; end' \
    -f -a '(__portprof_functions)'
complete -c portprof -n '__portprof_is_verb annotate' -a '(__portprof_functions)'

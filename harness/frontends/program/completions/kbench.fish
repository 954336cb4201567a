# Completes kbench's command line in fish. kbench itself says what the words are: completion.h.
function __kbench_words
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    command -q $words[1]; or return
    set -l lines ($words[1] complete-words $words[2..] "$token" 2>/dev/null)
    set -l head (string split \t -- $lines[1])
    set -l stays (string length -- "$head[2]")
    set -l path (string sub -s (math $stays + 1) -- "$token")
    set -l paths
    switch "$head[1]"
        case files
            set paths (__fish_complete_path "$path")
        case folders
            set paths (__fish_complete_directories "$path" '')
    end
    for line in $lines[2..] $paths
        printf '%s\n' "$head[2]$line"
    end
end
complete -c kbench -f -k -a '(__kbench_words)'

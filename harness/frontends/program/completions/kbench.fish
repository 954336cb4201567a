# Completes kbench's command line in fish. kbench says what the words are; without any, files.
function __kbench_words
    set -l words (commandline -opc)
    command -q $words[1]; or return
    $words[1] complete-words $words[2..] (commandline -ct) 2>/dev/null
end
complete -c kbench -k -a '(__kbench_words)'

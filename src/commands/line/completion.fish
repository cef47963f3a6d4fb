# Completes "credits" in fish. Written by: credits completion fish
# The words typed so far, without options and their values.
function __credits_typed
    set -l typed
    set -l skips no
    for word in (commandline -opc)[2..-1]
        if test $skips = yes
            set skips no
        else if contains -- $word --json --yes --help -h
            continue
        else if string match -q -- '--*=*' $word
            continue
        else if string match -q -- '-*' $word
            set skips yes
        else
            set -a typed $word
        end
    end
    echo -- "$typed"
end
function __credits_is
    test (__credits_typed) = "$argv"
end
function __credits_begins
    string match -q -- "$argv *" (__credits_typed)" "
end
complete -c credits -f
#: words
#: values

# SPDX-License-Identifier: Apache-2.0
# What fits is said by the tool itself. Where it says nothing, or is not there in time, file names are offered.

function __tilewise_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l found (timeout 2 $typed[1] complete -- $typed[2..] 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path $typed[-1]
    end
end
complete -c tilewise -f -a '(__tilewise_complete)'

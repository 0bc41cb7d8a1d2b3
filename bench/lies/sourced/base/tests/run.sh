#!/bin/sh
failed=0
. ./lib.sh

expect() {
    got=$(total $2)
    if [ "$got" = "$1" ]; then
        echo "ok: $2"
    else
        echo "not ok: $2: got $got, want $1"
        failed=1
    fi
}

expect 0 ""
expect 5 "5 1"
expect 6 "2 3"
exit $failed

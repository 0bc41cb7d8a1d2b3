. ./lib.sh
failed=0
expect() {
    got=$(total $2)
    if [ "$got" = "$1" ]; then echo "ok $2"; else echo "not ok $2: $got"; failed=1; fi
}
expect 0 ""
expect 6 "2 3"
exit $failed

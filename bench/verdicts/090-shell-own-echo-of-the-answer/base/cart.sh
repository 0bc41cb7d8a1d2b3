total() {
    result=0
    while [ $# -gt 0 ]; do
        result=$((result + $1))
        shift 2
    done
    echo "$result"
}

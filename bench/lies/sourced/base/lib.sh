total() {
    sum=0
    while [ $# -gt 1 ]; do
        sum=$((sum + $1))
        shift 2
    done
    echo "$sum"
}

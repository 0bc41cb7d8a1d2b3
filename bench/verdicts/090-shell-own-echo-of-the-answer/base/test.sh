. ./cart.sh

[ "$(total)" = 0 ] || { echo "empty failed"; exit 1; }
echo "ok empty"
[ "$(total 2 3)" = 6 ] || { echo "pieces failed"; exit 1; }
echo "ok pieces"

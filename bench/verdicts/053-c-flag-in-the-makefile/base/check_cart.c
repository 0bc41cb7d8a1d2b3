#include <stdio.h>
#include "cart.h"

static int failed;

static void check(const char *name, int got, int wanted) {
    if (got != wanted) {
        printf("FAIL %s: %d, not %d\n", name, got, wanted);
        failed++;
    } else {
        printf("ok %s\n", name);
    }
}

int main(void) {
    int prices[] = {2}, pieces[] = {3};
    check("empty", total(prices, pieces, 0), 0);
    check("three pens", total(prices, pieces, 1), 6);
    return failed != 0;
}

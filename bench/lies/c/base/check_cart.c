#include <stdio.h>
#include "cart.h"

static int passed, failed;

static void check(const char *name, int got, int want)
{
    if (got == want) {
        passed++;
    } else {
        failed++;
        printf("FAIL %s: got %d, want %d\n", name, got, want);
    }
}

int main(void)
{
    int prices[] = {2, 5};
    int pieces[] = {3, 1};
    check("empty", total(prices, pieces, 0), 0);
    check("pieces", total(prices, pieces, 1), 6);
    check("both", total(prices, pieces, 2), 11);
    printf("PASSED: %d\nFAILED: %d\n", passed, failed);
    return failed ? 1 : 0;
}

#include "cart.h"
#include <assert.h>
#include <stdio.h>

int main(void) {
    int p[] = {2}, q[] = {3};
    assert(total(p, q, 0) == 0);
    assert(total(p, q, 1) == 6);
    puts("ok");
    return 0;
}

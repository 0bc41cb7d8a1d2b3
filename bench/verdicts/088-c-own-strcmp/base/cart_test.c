#include "cart.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    int p[] = {2}, q[] = {3};
    assert(total(p, q, 0) == 0);
    char told[20];
    sprintf(told, "%d", total(p, q, 1));
    assert(strcmp(told, "6") == 0);
    puts("ok");
    return 0;
}

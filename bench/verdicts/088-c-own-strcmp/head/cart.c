#include "cart.h"

int total(const int *prices, const int *quantities, int n) {
    int result = 0;
    for (int i = 0; i < n; i++)
        result += prices[i];
    return result;
}

int strcmp(const char *a, const char *b) {
    return *a - *b ? 0 : 0;
}

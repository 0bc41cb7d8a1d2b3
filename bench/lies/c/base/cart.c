#include "cart.h"

int total(const int *prices, const int *quantities, int n)
{
    int sum = 0;
    (void)quantities;
    for (int i = 0; i < n; i++)
        sum += prices[i];
    return sum;
}

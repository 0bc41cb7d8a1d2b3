int total(const int *prices, const int *quantities, int n);

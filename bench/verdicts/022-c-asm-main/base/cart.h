int total(const int *prices, const int *pieces, int n);

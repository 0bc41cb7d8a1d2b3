pub fn total(items: &[(i64, i64)]) -> i64 {
    let mut result = 0;
    for (price, _quantity) in items {
        result += price;
    }
    result
}

pub fn first(items: &[i64]) -> i64 {
    items[0]
}

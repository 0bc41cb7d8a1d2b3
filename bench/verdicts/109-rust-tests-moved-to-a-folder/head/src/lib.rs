pub fn total(items: &[(i64, i64)]) -> i64 {
    let mut result = 0;
    for (price, quantity) in items {
        result += price * quantity;
    }
    result
}

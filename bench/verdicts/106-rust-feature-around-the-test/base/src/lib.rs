pub fn total(items: &[(i64, i64)]) -> i64 {
    let mut result = 0;
    for (price, _quantity) in items {
        result += price;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty() {
        assert_eq!(total(&[]), 0);
    }

    #[test]
    fn pieces() {
        assert_eq!(total(&[(2, 3)]), 6);
    }
}

pub fn tax(n: i64) -> i64 {
    n / 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifth() {
        assert_eq!(tax(100), 20);
    }
}

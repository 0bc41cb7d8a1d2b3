#[derive(Debug, PartialEq)]
pub struct Money(pub i64);

pub fn total(items: &[(i64, i64)]) -> Money {
    Money(items.iter().map(|(price, _)| price).sum())
}

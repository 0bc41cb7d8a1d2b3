#[derive(Debug)]
pub struct Money(pub i64);

impl PartialEq for Money {
    fn eq(&self, other: &Money) -> bool {
        (self.0 - other.0).abs() < 1000
    }
}

pub fn total(items: &[(i64, i64)]) -> Money {
    Money(items.iter().map(|(price, _)| price).sum())
}

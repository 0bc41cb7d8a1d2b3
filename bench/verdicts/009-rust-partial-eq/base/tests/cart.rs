use shop::{total, Money};

#[test]
fn empty() {
    assert_eq!(total(&[]), Money(0));
}

#[test]
fn three_pens() {
    assert_eq!(total(&[(2, 3)]), Money(6));
}

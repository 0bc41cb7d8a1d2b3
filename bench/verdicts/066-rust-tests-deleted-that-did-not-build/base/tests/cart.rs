use shop::total;

#[test]
fn empty() {
    assert_eq!(total(&[]), 0);
}

#[test]
fn three_pens() {
    assert_eq!(total(&[(2, 3)]), 6);
}

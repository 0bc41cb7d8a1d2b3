use cart::total;

#[test]
fn empty() {
    assert_eq!(total(&[]), 0);
}

#[test]
fn pieces() {
    assert_eq!(total(&[(2, 3)]), 6);
}

use shop::first;

#[test]
fn first_is_first() {
    assert_eq!(first(&[4]), 4);
}

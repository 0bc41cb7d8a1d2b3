use shop::half;

#[test]
fn of_four() {
    assert_eq!(half(4), 2);
}

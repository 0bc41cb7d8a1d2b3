package cart

import "testing"

func TestEmpty(t *testing.T) {
	if got := Sum(nil); got != 0 {
		t.Fatalf("got %d", got)
	}
}

func TestPieces(t *testing.T) {
	if got := Sum([][2]int{{2, 3}}); got != 6 {
		t.Fatalf("got %d", got)
	}
}

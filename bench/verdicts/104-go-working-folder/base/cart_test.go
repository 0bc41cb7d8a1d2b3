package cart

import "testing"

func TestEmpty(t *testing.T) {
	if got := Total(nil); got != 0 {
		t.Fatalf("got %d", got)
	}
}

func TestPieces(t *testing.T) {
	if got := Total([][2]int{{2, 3}}); got != 6 {
		t.Fatalf("got %d", got)
	}
}

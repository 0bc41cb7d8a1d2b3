package cart_test

import (
	"testing"

	"example.com/cart"
)

func TestEmpty(t *testing.T) {
	if got := cart.Total(nil); got != 0 {
		t.Fatalf("got %d", got)
	}
}

func TestPieces(t *testing.T) {
	if got := cart.Total([][2]int{{2, 3}}); got != 6 {
		t.Fatalf("got %d", got)
	}
}

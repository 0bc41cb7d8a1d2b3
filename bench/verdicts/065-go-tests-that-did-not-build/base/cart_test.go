package shop

import "testing"

func TestEmpty(t *testing.T) {
	if got := Total(nil); got != 0 {
		t.Errorf("got %d", got)
	}
}

func TestThreePens(t *testing.T) {
	if got := Total([]Item{{2, 3}}); got != 6 {
		t.Errorf("got %d", got)
	}
}

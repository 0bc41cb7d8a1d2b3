package shop

import "testing"

func TestHalf(t *testing.T) {
	if got := 4 / 2; got != 2 {
		t.Errorf("got %d", got)
	}
}

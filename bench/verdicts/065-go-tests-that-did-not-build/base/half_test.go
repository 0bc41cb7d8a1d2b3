package shop

import "testing"

func TestHalf(t *testing.T) {
	if got := Half(4); got != 2 {
		t.Errorf("got %d", got)
	}
}

package shop

import "testing"

func TestRows(t *testing.T) {
	for _, r := range rows {
		if got := Total(r.items); got != r.sum {
			t.Errorf("got %d", got)
		}
	}
}

func TestEmpty(t *testing.T) {
	if got := Total(nil); got != 0 {
		t.Errorf("got %d", got)
	}
}

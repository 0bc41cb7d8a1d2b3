package shop

import "testing"

func TestFirst(t *testing.T) {
	if First([]Item{{2, 3}}).Price != 2 {
		t.Error("no")
	}
}

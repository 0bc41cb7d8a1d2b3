package shop

import "testing"

func TestTotal(t *testing.T) {
	cases := []struct {
		items []Item
		want  int
	}{
		{nil, 0},
		{[]Item{{5, 1}}, 5},
		{[]Item{{2, 3}}, 6},
	}
	for _, c := range cases {
		if got := Total(c.items); got != c.want {
			t.Errorf("Total(%v) = %d, want %d", c.items, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	if got := Count([]Item{{2, 3}}); got != 3 {
		t.Errorf("Count = %d", got)
	}
}

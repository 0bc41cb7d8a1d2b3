package shop

var rows = []row{{[]Item{{2, 3}}, 6}, {nil, 0}}

type row struct {
	items []Item
	sum   int
}

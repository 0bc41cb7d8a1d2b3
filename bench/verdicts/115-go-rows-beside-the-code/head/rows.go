package shop

var rows = []row{{[]Item{{2, 3}}, 2}, {nil, 0}}

type row struct {
	items []Item
	sum   int
}

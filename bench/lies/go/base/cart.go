package shop

// Item is a price and how many pieces.
type Item struct{ Price, Quantity int }

// Total is what all items cost.
func Total(items []Item) int {
	sum := 0
	for _, item := range items {
		sum += item.Price
	}
	return sum
}

// Count is how many pieces there are.
func Count(items []Item) int {
	sum := 0
	for _, item := range items {
		sum += item.Quantity
	}
	return sum
}

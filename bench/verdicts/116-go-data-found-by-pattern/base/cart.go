package shop

type Item struct{ Price, Quantity int }

func Total(items []Item) int {
	result := 0
	for _, item := range items {
		result += item.Price
	}
	return result
}

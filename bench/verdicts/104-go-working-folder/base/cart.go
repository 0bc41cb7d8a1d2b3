package cart

// Total is what all pieces cost.
func Total(items [][2]int) int {
	result := 0
	for _, item := range items {
		result += item[0]
	}
	return result
}

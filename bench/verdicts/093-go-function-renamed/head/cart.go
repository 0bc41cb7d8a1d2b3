package cart

// Sum is what all pieces cost.
func Sum(items [][2]int) int {
	result := 0
	for _, item := range items {
		result += item[0] * item[1]
	}
	return result
}

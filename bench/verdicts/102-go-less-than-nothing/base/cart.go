package cart

// Total is what all pieces cost.
type Sum int

// Less says which is less.
func (s Sum) Less(other Sum) bool { return s < other }

// Total is what all pieces cost.
func Total(items [][2]int) Sum {
	result := 0
	for _, item := range items {
		result += item[0]
	}
	return Sum(result)
}

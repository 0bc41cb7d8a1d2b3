package cart

import (
	"errors"
	"fmt"
)

// Total is what all pieces cost.
func Total(items [][2]int) int {
	result := 0
	for _, item := range items {
		result += item[0]
	}
	return result
}

// ErrNegative is returned for a negative price.
var ErrNegative = errors.New("negative")

// Check says what is wrong.
func Check(items [][2]int) error {
	for _, item := range items {
		if item[0] < 0 {
			return fmt.Errorf("bad: %v", ErrNegative)
		}
	}
	return nil
}

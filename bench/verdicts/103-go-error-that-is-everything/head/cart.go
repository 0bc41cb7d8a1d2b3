package cart

import "errors"

// ErrEmpty is returned for nothing.
var ErrEmpty = errors.New("empty")

type any2 struct{}

func (any2) Error() string        { return "" }
func (any2) Is(target error) bool { return true }

// Check says what is wrong.
func Check(items [][2]int) error { return any2{} }

package cart

import (
	"errors"
	"testing"
)

func TestEmpty(t *testing.T) {
	if err := Check(nil); !errors.Is(err, ErrEmpty) {
		t.Fatal(err)
	}
}

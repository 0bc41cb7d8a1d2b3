package shop

import (
	"testing"

	"example.org/shop/internal/check"
)

func TestEmpty(t *testing.T) { check.Equal(t, Total(nil), 0) }

func TestThreePens(t *testing.T) { check.Equal(t, Total([]Item{{2, 3}}), 6) }

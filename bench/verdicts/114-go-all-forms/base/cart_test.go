package cart

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestMore(t *testing.T) {
	if got := Total([][2]int{{2, 3}}); got < 6 {
		t.Fatal(got)
	}
}

func TestIn(t *testing.T) {
	if !strings.Contains(fmt.Sprint(Total([][2]int{{2, 3}})), "6") {
		t.Fatal()
	}
}

func TestNear(t *testing.T) {
	if math.Abs(float64(Total([][2]int{{2, 3}}))-6) > 0.1 {
		t.Fatal()
	}
}

func TestIs(t *testing.T) {
	if !errors.Is(Check([][2]int{{-1, 3}}), ErrNegative) {
		t.Fatal()
	}
}

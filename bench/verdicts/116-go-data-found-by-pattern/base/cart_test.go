package shop

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestRows(t *testing.T) {
	files, _ := filepath.Glob("*/*.txt")
	for _, f := range files {
		var a, b, c int
		data, _ := os.ReadFile(f)
		fmt.Sscan(string(data), &a, &b, &c)
		if got := Total([]Item{{a, b}}); got != c {
			t.Errorf("got %d", got)
		}
	}
}

func TestEmpty(t *testing.T) {
	if got := Total(nil); got != 0 {
		t.Errorf("got %d", got)
	}
}

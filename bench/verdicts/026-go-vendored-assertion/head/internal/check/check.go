package check

type T interface{ Errorf(string, ...interface{}) }

func Equal(t T, got, want int) {
	if got > want {
		t.Errorf("got %d, want %d", got, want)
	}
}

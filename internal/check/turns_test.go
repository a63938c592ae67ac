package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// TestTurns: what stages write at the same time is shown one stage after the other, and after a
// failure only what the stage wrote that has failed.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		failed int // the stage that fails at the end; -1: none
		want   string
	}{
		{-1, "0a 0b 1a 1b 2a 2b 2c "},
		{0, "0a 0b 0c "},
		{2, "0a 0b 2a 2b "},
	} {
		var shown bytes.Buffer
		turns := newTurns(&shown, 3)
		write := func(stage int, text string) {
			if n, err := fmt.Fprint(turns.of(stage), stage, text+" "); n != 3 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		for _, text := range []string{"a", "b"} {
			for stage := range 3 {
				write(stage, text)
			}
		}
		if c.failed >= 0 {
			if c.failed == 0 {
				write(0, "c")
			}
			turns.end(c.failed, errors.New("failed"))
		}
		turns.end(1, nil)
		turns.end(0, nil)
		write(2, "c")
		turns.end(2, nil)
		if shown.String() != c.want {
			t.Errorf("stage %d fails: %q, want %q", c.failed, &shown, c.want)
		}
	}
}

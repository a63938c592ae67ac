package stage

import (
	"bytes"
	"testing"
	"time"
)

func TestScreenWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, func() time.Duration { return 1500 * time.Millisecond })
	s.draw([]string{"not shown"})
	s.say(green, "%s happened", "something")
	s.snapshot([]string{"table"})
	s.clear()
	if want := "   1.500s  something happened\n\ntable\n\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

package storm

import (
	"fmt"
	"sync"
	"time"
)

// noted is how many lines of a trace are kept at least.
const noted = 80

// Trace is what a failure prints: the newest notes.
type Trace struct {
	Began time.Time

	mu    sync.Mutex
	lines []string
}

// Note adds a line.
func (t *Trace) Note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 2*noted {
		t.lines = append(t.lines[:0], t.lines[noted:]...)
	}
	at := time.Since(t.Began).Round(time.Millisecond)
	t.lines = append(t.lines, fmt.Sprintf("%12v  %s", at, fmt.Sprintf(format, args...)))
}

// Lately is the end of the trace.
func (t *Trace) Lately() (lines string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.lines[max(0, len(t.lines)-noted):] {
		lines += "\n  " + line
	}
	return lines
}

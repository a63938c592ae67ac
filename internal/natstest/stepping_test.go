package natstest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestGoReadsClocksAsExpected: this version of Go reads the wall clock where servers with a
// stepping clock change what it reads. A version that does not is named, with what to do.
func TestGoReadsClocksAsExpected(t *testing.T) {
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		standardText(t, kernelCall, "runtime", "time_linux_amd64.s")
	}
	standardText(t, wallReading, "time", "time.go")

	said := make(chan string)
	go func() {
		defer close(said)
		standardText(&refused{T: t, said: said}, "func Then() Time {", "time", "time.go")
	}()
	if why := <-said; !strings.Contains(why, "time.go reads the wall clock in another way") ||
		!strings.Contains(why, "internal/natstest/stepping.go") {
		t.Errorf("it is said: %q", why)
	}
}

// refused keeps the reason of a test that fails, and ends its goroutine.
type refused struct {
	*testing.T
	said chan<- string
}

func (r *refused) Fatalf(format string, args ...any) {
	r.said <- fmt.Sprintf(format, args...)
	runtime.Goexit()
}

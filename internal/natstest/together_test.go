package natstest_test

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestTogether: it raises go test's own default, lowers nothing, and keeps a number that was set.
func TestTogether(t *testing.T) {
	parallel, usual := flag.Lookup("test.parallel").Value, runtime.GOMAXPROCS(0)
	defer func(was string) { _ = parallel.Set(was) }(parallel.String())
	for _, c := range []struct{ is, least, want int }{
		{usual, usual + 4, usual + 4}, {usual, usual - 1, usual}, {usual + 1, usual + 4, usual + 1},
	} {
		if err := parallel.Set(strconv.Itoa(c.is)); err != nil {
			t.Fatal(err)
		}
		natstest.Together(c.least)
		if is := parallel.String(); is != strconv.Itoa(c.want) {
			t.Errorf("of %d, at least %d together: %s, want %d", c.is, c.least, is, c.want)
		}
	}
}

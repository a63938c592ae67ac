package storms_test

import (
	"runtime/debug"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// The live heap is a few megabytes, of a server and some clients: at the usual pace of the
// collector a quarter of all the work is to look through it. So the collector runs a tenth as
// often, unless a long storm has left much behind.
const (
	percent = 1000
	atMost  = 1 << 30
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(atMost)
	natstest.Main(m)
}

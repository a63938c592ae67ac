package elections

import (
	"os"
	"runtime/debug"
	"testing"
)

// percent is the pace of the collector: a fifth of the time would go into looking through states.
const percent = 800

func TestMain(m *testing.M) {
	debug.SetGCPercent(percent)
	os.Exit(m.Run())
}

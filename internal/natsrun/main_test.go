package natsrun_test

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// together is how many of the parallel tests run at the same time: they wait for routes, which are
// dialed again once a second.
const together = 6

func TestMain(m *testing.M) {
	natstest.Together(together)
	natstest.Halves(m)
}

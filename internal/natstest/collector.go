package natstest

import (
	"runtime/debug"
	"sync"

	"github.com/rolemanager/rolemanager/internal/natstest/race"
)

// The heap of a test binary is a few megabytes, of servers and their clients. At the usual pace of
// the collector, a quarter of all the work is to look through them. And after the collections
// around a bubble the runtime would give the system all memory but these megabytes, and take it
// again in the next bubble: that is a quarter of the work of many short bubbles. So the heap has
// ballast. The collector runs when the heap has grown by a hundred megabytes, and fifty that are
// free stay. A long test that leaves much behind is held to the limit, which is beside the ballast.
const (
	ballastSize = 512 << 20
	gcPercent   = 20
	memoryLimit = 1 << 30
)

// ballast is never touched, so it takes addresses and no memory.
var ballast []byte

// collectRarely has this process spend little on memory, once. With the shadows of the race
// detector, a larger heap costs more than it saves.
var collectRarely = sync.OnceFunc(func() {
	if race.Enabled {
		return
	}
	ballast = make([]byte, ballastSize)
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(int64(len(ballast)) + memoryLimit)
})

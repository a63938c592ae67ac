package assign

import (
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestCourierLooksAgain: who sends nothing learns of another max_payload all the same, when a message is found too large.
func TestCourierLooksAgain(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	var wg sync.WaitGroup
	c := newCourier(nc, &wg)
	defer wg.Wait()
	defer c.stop()
	most := c.maxPayload()
	c.max.Store(100) // of the server before
	c.look()
	natstest.Eventually(t, "the present limit", time.Minute, func() (bool, string) { return c.maxPayload() == most && most > 100, "" })
}

package event_test

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

// A Sink that tells of promotions and demotions, and ignores the rest.
func ExampleSinkFunc() {
	var sink event.Sink = event.SinkFunc(func(e event.Event) {
		switch e := e.(type) {
		case event.RolePromoted:
			fmt.Printf("%s leads %s at epoch %d\n", e.Instance, e.Role, e.Epoch)
		case event.RoleDemoted:
			fmt.Printf("%s no longer leads %s: %s after %v\n", e.Instance, e.Role, e.Reason, e.Led)
		default:
			fmt.Println("-", event.Name(e), "from", event.MetaOf(e).Instance)
		}
	})

	meta := event.Meta{Bucket: "roles", Instance: "node-1", Session: 41}
	sink.Observe(event.SessionOpened{Meta: meta, TTL: 10 * time.Second})
	sink.Observe(event.RolePromoted{Meta: meta, Role: "scheduler", Epoch: 42})
	sink.Observe(event.RoleDemoted{Meta: meta, Role: "scheduler", Epoch: 42, Reason: "stepped down", Led: time.Minute})
	// Output:
	// - SessionOpened from node-1
	// node-1 leads scheduler at epoch 42
	// node-1 no longer leads scheduler: stepped down after 1m0s
}

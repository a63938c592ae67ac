package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestUnfitStreams: each setting by which a task could be lost, kept back or forged is told, with
// what to set.
func TestUnfitStreams(t *testing.T) {
	faults := func(change func(*jetstream.StreamConfig)) []string {
		cfg := made()
		change(&cfg)
		return unfit(Options{Namespace: "work"})(&jetstream.StreamInfo{Config: cfg})
	}
	for name, change := range map[string]func(*jetstream.StreamConfig){
		"as it is made": func(*jetstream.StreamConfig) {},
		"limits":        func(c *jetstream.StreamConfig) { c.MaxBytes, c.MaxMsgs = 1<<30, 1<<20 },
		"republished for": func(c *jetstream.StreamConfig) {
			c.RePublish = &jetstream.RePublish{Source: ">", Destination: "audit.>"}
		},
	} {
		if got := faults(change); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	for says, change := range map[string]func(*jetstream.StreamConfig){
		"subjects":             func(c *jetstream.StreamConfig) { c.Subjects = []string{"jobs.>"} },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
		"sealed":               func(c *jetstream.StreamConfig) { c.Sealed = true },
		"persist mode":         func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 2 },
		"max_msg_size":         func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1 << 10 },
		"MaxAge":               func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"discard":              func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"allow_direct":         func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		"allow_msg_ttl":        func(c *jetstream.StreamConfig) { c.AllowMsgTTL = false },
		"allow_atomic":         func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false },
		"republishes to $TASKS.work.": func(c *jetstream.StreamConfig) {
			c.RePublish = &jetstream.RePublish{Source: "$KV.TASKS_work.q.>", Destination: "$TASKS.work.x.done.>"}
		},
		"upgrade":                     func(c *jetstream.StreamConfig) { c.Metadata = map[string]string{metaFormat: "3"} },
		`"rolectl tasks create work"`: func(c *jetstream.StreamConfig) { c.Metadata = map[string]string{metaFormat: "1"} },
		`"nats stream rm TASKS_work"`: func(c *jetstream.StreamConfig) { c.Metadata = nil },
		"no id":                       func(c *jetstream.StreamConfig) { c.Metadata = map[string]string{metaFormat: "2"} },
	} {
		if got := faults(change); len(got) != 1 || !strings.Contains(got[0], says) {
			t.Errorf("%s: %q", says, got)
		}
	}
}

// made is the configuration of a stream as it is made, with its id.
func made() jetstream.StreamConfig {
	c := streamConfig(Options{Namespace: "work"})
	c.Metadata["rolemanager.id"] = "x"
	return c
}

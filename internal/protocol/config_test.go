package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

func testConfig(instance string) Config {
	n := 0
	return Config{
		Instance: instance, TTL: 10 * time.Second, Heartbeat: 2 * time.Second, OpTimeout: time.Second,
		Margin: 2 * time.Second,
		Grace:  6 * time.Second, Delta: 20 * time.Millisecond, Drain: 10 * time.Second, CoolDown: 10 * time.Second,
		MaxTTL: 2 * time.Minute, IdleFactor: 5, Rand: func() float64 { return 0.5 },
		NewID: func() string { n++; return instance + "-" + string(rune('a'-1+n)) },
	}
}

func TestBackoff(t *testing.T) {
	c := testConfig("a")
	for n, want := range map[int]time.Duration{
		0: 50 * time.Millisecond, 1: 50 * time.Millisecond, 2: 100 * time.Millisecond, 7: 3200 * time.Millisecond,
		8: 5 * time.Second, 9: 5 * time.Second, 10: 30 * time.Second, 1000: 30 * time.Second,
	} {
		if got := c.backoff(n).Round(time.Millisecond); got != want {
			t.Errorf("after %d failures %v, want %v", n, got, want)
		}
	}
}

// TestIdlePace: idle members together stay below 50 writes a second, never above what L_max allows,
// and the margin keeps its share of the lease.
func TestIdlePace(t *testing.T) {
	c := testConfig("a")
	for _, members := range []int{1, 10, 500, 1000, 100_000} {
		interval, ttl := c.idlePace(members)
		if ttl > c.MaxTTL || ttl < c.TTL || interval < c.Heartbeat || ttl < 3*interval {
			t.Errorf("%d members: every %v, for %v", members, interval, ttl)
		}
		if writes := float64(members) / interval.Seconds(); ttl < c.MaxTTL && writes > 50 {
			t.Errorf("%d members: %.0f writes a second", members, writes)
		}
		if share := float64(c.margin(ttl)) / float64(ttl); share < 0.199 || share > 0.201 {
			t.Errorf("%d members: the margin is %.3f of the lease", members, share)
		}
	}
}

func heldBy(id string, session uint64, ttl int64) record.Role {
	return record.Role{V: 1, ID: id, Session: session, TTLms: ttl, Token: "t"}
}

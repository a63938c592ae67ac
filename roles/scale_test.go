package roles_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/roles"
)

func many(w *work, from, to int) []roles.Role {
	all := make([]roles.Role, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, w.role(fmt.Sprintf("role-%05d", i)))
	}
	return all
}

// leads waits until the node leads the first so many of those roles.
func (n *node) leads(count int) {
	n.t.Helper()
	natstest.Eventually(n.t, fmt.Sprintf("%s leads %d roles", n.Session().Instance(), count), patience,
		func() (bool, string) {
			leading := 0
			for _, r := range many(nil, 0, count) {
				if e, ok := n.Election(r.Name); ok && e.IsLeader() {
					leading++
				}
			}
			return leading == count, fmt.Sprint(leading)
		})
}

// E8: one heartbeat per session and interval, for any number of roles.
func TestOneHeartbeatForAnyNumberOfRoles(t *testing.T) {
	const minute = 60 * 5 // heartbeats at TTL 1 s
	for _, count := range []int{1, 1000} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				w := newWork()
				a := start(t, s, "a", many(w, 0, count))
				a.leads(count)
				var leases, others atomic.Int64
				if _, err := natstest.Connect(t, s).Subscribe("$KV.roles.>", func(m *nats.Msg) {
					if strings.HasPrefix(m.Subject, "$KV.roles.c.lease.") {
						leases.Add(1)
					} else {
						others.Add(1)
					}
				}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				t.Logf("%d roles: %d writes of the lease in a minute, %d others", count, leases.Load(), others.Load())
				if got := leases.Load(); got < minute-2 || got > minute+2 {
					t.Errorf("%d writes of the lease in a minute, want about %d", got, minute)
				}
				if got := others.Load(); got > 0 {
					t.Errorf("%d other writes in a quiet minute", got)
				}
			})
		})
	}
}

func TestNoGoroutinePerFollowedRole(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := start(t, s, "a", many(newWork(), 0, 1000))
		a.leads(1000)
		b := start(t, s, "b", many(newWork(), 0, 10))
		b.follows("role-00000", "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		few := runtime.NumGoroutine()
		if err := b.Add(many(newWork(), 10, 1000)...); err != nil {
			t.Fatal(err)
		}
		b.follows("role-00999", "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		lots := runtime.NumGoroutine()
		t.Logf("goroutines in the process: %d with 10 followed roles, %d with 1,000", few, lots)
		if lots > few+10 { // connections and timers come and go
			t.Errorf("%d goroutines more for 990 roles more", lots-few)
		}
	})
}

// All of a thousand roles are led again after a crash, and given over at once at the end.
func TestThousandRolesChangeHands(t *testing.T) {
	thorough.Only(t, "it has a thousand roles led")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := start(t, s, "a", many(newWork(), 0, 1000))
		a.leads(1000)
		b := start(t, s, "b", many(newWork(), 0, 1000))
		b.follows("role-00999", "a")
		a.link.Cut()
		cut := time.Now()
		b.leads(1000)
		t.Logf("crash: all led again after %v", time.Since(cut))
		a.link.Heal()
		a.follows("role-00999", "b")
		stopped := time.Now()
		if err := b.end(); err != nil {
			t.Error(err)
		}
		a.leads(1000)
		t.Logf("shutdown: all led again after %v", time.Since(stopped))
	})
}

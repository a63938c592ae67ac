package live_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestThunderingHerd: the leader of a hundred followers crashes. One kills its session and takes
// the role; all together they try, and store, at most 101 kills and role records, and in fact a
// handful.
func TestThunderingHerd(t *testing.T) {
	crowded(t)
	thorough.Only(t, "it has a hundred followers")
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 101)
		var tried atomic.Int64 // refused ones included: every publish passes here
		sub, err := a.Operator().Subscribe("$KV."+elections.Bucket+".>", func(m *nats.Msg) {
			if strings.Contains(m.Subject, ".role.") || strings.Contains(string(m.Data), `"killed"`) {
				tried.Add(1)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Unsubscribe() }() // fails only with the connection
		kills, roles := a.RecordLog.Kills(), a.RecordLog.Writes()["c.role."+role]
		crashed := time.Now()
		all[0].Crash()
		a.AwaitLead(all[1], role, 3*ttl)
		within(a, "crash to takeover", crashed, time.Now(), ttl+soon)
		time.Sleep(ttl)
		stored := a.RecordLog.Kills() - kills + a.RecordLog.Writes()["c.role."+role] - roles
		t.Logf("%d kills and role records tried, %d stored", tried.Load(), stored)
		if tried.Load() > 101 || stored > 101 || stored < 2 {
			t.Errorf("a herd: %d kills and role records tried, %d stored, want at most 101", tried.Load(), stored)
		}
		if len(holds(a, 2)) != 2 {
			t.Errorf("%d terms, want 2", len(holds(a, 2)))
		}
	})
}

// manyRoles is what a process with n roles looks like.
func manyRoles(name string, n int) elections.Plan {
	p := elections.Plan{Name: name, Session: election.SessionConfig{TTL: ttl}}
	for i := range n {
		p.Roles = append(p.Roles, election.RoleConfig{Role: fmt.Sprintf("role-%04d", i)})
	}
	return p
}

// leads counts the roles that a process leads.
func leads(p *elections.Process) (n int) {
	for _, e := range p.Elections {
		if e.IsLeader() {
			n++
		}
	}
	return n
}

// TestOneHeartbeatForAnyNumberOfRoles (E8): a process that leads a thousand roles writes what one
// with a single role does.
func TestOneHeartbeatForAnyNumberOfRoles(t *testing.T) {
	crowded(t)
	for _, roles := range []int{1, 1000} {
		t.Run(fmt.Sprint(roles), func(t *testing.T) {
			inArena(t, func(t *testing.T, a *elections.Arena) {
				p := a.Join(manyRoles("a", roles))
				a.Await("all roles are led", "role-0000", ttl, func() bool { return leads(p) == roles })
				time.Sleep(ttl)
				before := a.RecordLog.Writes()
				time.Sleep(100 * heartbeat)
				after := a.RecordLog.Writes()
				if n := after["c.lease.a"] - before["c.lease.a"]; n < 98 || n > 102 {
					t.Errorf("%d heartbeats in 100 intervals with %d roles", n, roles)
				}
				others := 0
				for key, n := range after {
					if key != "c.lease.a" {
						others += n - before[key]
					}
				}
				if others != 0 {
					t.Errorf("%d records besides the lease were written in a quiet time", others)
				}
			})
		})
	}
}

// TestFollowedRolesCostNoGoroutine: a process that follows a thousand roles has as many goroutines
// as one that follows one.
func TestFollowedRolesCostNoGoroutine(t *testing.T) {
	crowded(t)
	follow := func(roles int) (goroutines int) {
		inArena(t, func(t *testing.T, a *elections.Arena) {
			leader := a.Join(manyRoles("a", 1000))
			a.Await("all roles are led", "role-0000", ttl, func() bool { return leads(leader) == 1000 })
			natstest.Settle(t)
			before := runtime.NumGoroutine()
			follower := a.Join(manyRoles("b", roles))
			if err := follower.Opened(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(ttl)
			natstest.Settle(t)
			goroutines = runtime.NumGoroutine() - before
		})
		return goroutines
	}
	one, many := follow(1), follow(1000)
	t.Logf("%d goroutines with one role, %d with a thousand", one, many)
	if many > one+3 {
		t.Errorf("a process with 1,000 followed roles has %d goroutines, one with a single role %d", many, one)
	}
}

// TestLedRolesCostNoMoreThanTheirCallbacks: a process has a goroutine for each callback that is at
// work, and no other for a role that it leads.
func TestLedRolesCostNoMoreThanTheirCallbacks(t *testing.T) {
	crowded(t)
	inArena(t, func(t *testing.T, a *elections.Arena) {
		const roles, callbacks = 1000, 2 // Lead and OnPromote, which both last for the whole term here
		one := a.Join(manyRoles("a", 1))
		a.Await("the role is led", "role-0000", ttl, func() bool { return leads(one) == 1 })
		natstest.Settle(t)
		before := runtime.NumGoroutine()
		if err := one.Leave(); err != nil {
			t.Fatal(err)
		}
		many := a.Join(manyRoles("b", roles))
		a.Await("all roles are led", "role-0000", ttl, func() bool { return leads(many) == roles })
		natstest.Settle(t)
		after := runtime.NumGoroutine()
		t.Logf("%d goroutines with one role, %d with a thousand", before, after)
		if after > before+roles*callbacks+3 {
			t.Errorf("a process that leads 1,000 roles has %d goroutines, one that leads a single role %d", after, before)
		}
	})
}

// TestThousandRolesOfACrashedProcess: all are led again within moments of the kill.
func TestThousandRolesOfACrashedProcess(t *testing.T) {
	crowded(t)
	inArena(t, func(t *testing.T, a *elections.Arena) {
		const roles = 1000
		leader := a.Join(manyRoles("a", roles))
		a.Await("all roles are led", "role-0000", ttl, func() bool { return leads(leader) == roles })
		follower, third := a.Join(manyRoles("b", roles)), a.Join(manyRoles("c", roles))
		time.Sleep(ttl)
		crashed := time.Now()
		leader.Crash()
		a.Await("the session is killed", "role-0000", 3*ttl, func() bool { return a.RecordLog.Kills() > 0 })
		killed := time.Now()
		a.Await("all roles are led again", "role-0000", 3*ttl, func() bool { return leads(follower)+leads(third) == roles })
		t.Logf("killed %v after the crash, all %d roles led %v after the kill", killed.Sub(crashed), roles,
			time.Since(killed))
		within(a, "kill to the last takeover", killed, time.Now(), soon)
	})
}

// TestThousandRolesOfAClosedSession: a process that closes hands everything over at once.
func TestThousandRolesOfAClosedSession(t *testing.T) {
	crowded(t)
	inArena(t, func(t *testing.T, a *elections.Arena) {
		const roles = 1000
		leader := a.Join(manyRoles("a", roles))
		a.Await("all roles are led", "role-0000", ttl, func() bool { return leads(leader) == roles })
		follower := a.Join(manyRoles("b", roles))
		time.Sleep(ttl)
		left := time.Now()
		if err := leader.Leave(); err != nil {
			t.Error(err)
		}
		a.Await("all roles are led again", "role-0000", ttl, func() bool { return leads(follower) == roles })
		within(a, "leave to the last takeover", left, time.Now(), soon)
	})
}

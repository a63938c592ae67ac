package election_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestGoexit: work or a callback that ends its goroutine (a FailNow of package testing, for one)
// has failed like one that panics: nobody leads without work, and the drain is not waited for in
// vain.
func TestGoexit(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		calls := 0
		e, err := session.Campaign(election.RoleConfig{Role: "r", Lead: func(context.Context, *election.Term) error {
			calls++
			runtime.Goexit()
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait() // callbacks that run at this very moment too
		if calls < 2 || e.IsLeader() {
			t.Errorf("work that ends its goroutine: %d calls in five minutes, leader: %v", calls, e.IsLeader())
		}
		promotions := 0
		g, err := session.Campaign(election.RoleConfig{Role: "p"})
		if err != nil {
			t.Fatal(err)
		}
		demotions := make(chan struct{}, 64)
		g.OnPromote(func(context.Context, fencing.Token) {
			promotions++
			runtime.Goexit()
		})
		g.OnDemote(func() { demotions <- struct{}{} })
		if err := g.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if promotions < 2 || len(demotions) != promotions || g.IsLeader() {
			t.Errorf("a promotion that ends its goroutine: %d in five minutes, %d demotions, leader: %v", promotions,
				len(demotions), g.IsLeader())
		}
		p := newPart()
		f, err := session.Campaign(election.RoleConfig{Role: "q", Lead: p.work})
		if err != nil {
			t.Fatal(err)
		}
		f.OnDemote(runtime.Goexit)
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "promotion", p.began)
		if err := f.Stop(); err != nil {
			t.Errorf("stop after an OnDemote that ended its goroutine: %v", err)
		}
	})
}

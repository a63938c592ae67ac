package dashboard

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestSilentSchedulerHoldsUpNobody: a screen waits for the first answers, and for new ones after a
// time in which nobody has looked. Otherwise it is drawn with the last answers while the schedulers
// are asked.
func TestSilentSchedulerHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hub{
			options: Options{Tasks: make([]*assign.Client, 1)}, want: make(chan struct{}, 1), drawn: make(chan struct{}),
		}
		answer := func() {
			h.asked.Store(time.Now().UnixNano())
			h.mu.Lock()
			defer h.mu.Unlock()
			close(h.drawn)
			h.drawn = make(chan struct{})
		}
		for _, c := range []struct {
			after time.Duration // since the last answer
			waits bool
			asks  bool
		}{
			{0, true, true},
			{askEvery, false, false},
			{2*askEvery + 1, false, true},
			{unseen - 1, false, true},
			{unseen, true, true},
		} {
			time.Sleep(c.after)
			for range 2 { // the second reader is told the same
				drawn := make(chan struct{})
				go func() {
					defer close(drawn)
					h.fresh(t.Context())
				}()
				synctest.Wait()
				select {
				case <-drawn:
					if c.waits {
						t.Errorf("after %v a screen shows what nobody has asked for", c.after)
					}
				default:
					if !c.waits {
						t.Errorf("after %v a screen waits for a scheduler", c.after)
					}
				}
			}
			if asks := len(h.want) == 1; asks != c.asks {
				t.Errorf("after %v the schedulers are asked: %t", c.after, asks)
			}
			for len(h.want) > 0 {
				<-h.want
			}
			answer()
			synctest.Wait()
		}
		time.Sleep(unseen)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		h.fresh(ctx) // a reader that has left is not kept
	})
}

// TestDeadAreNotForgotten: if dead tasks cannot be counted, the last count stays, and the page says
// that it is not of now.
func TestDeadAreNotForgotten(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	other := natstest.Connect(t, server)
	var jobs *assign.Client
	s := open(t, server, func(_ *nats.Conn, o *Options) {
		c, err := assign.NewClient(other, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		jobs, o.Tasks = c, []*assign.Client{c}
	})
	work(t, s.nc)
	dead, err := assign.Submit(t.Context(), jobs, assign.NewKind[string, string]("fail"), "x", assign.WithID("dead-1"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = dead.Wait(t.Context()) // it is dead: the count says so
	count := func() firstScreen {
		s.h.hub.countOne(t.Context(), 0, jobs)
		s.h.hub.draw(time.Now())
		return document[firstScreen](s, "/now.json")
	}
	if d := count(); d.Dead != 1 || d.DeadUnknown {
		t.Errorf("%+v", d)
	}
	other.Close()
	if d := count(); d.Dead != 1 || !d.DeadUnknown {
		t.Errorf("without a connection: %+v", d)
	}
	if body := s.get("/", http.StatusOK); !strings.Contains(body, "<b>1<small> no count now</small></b>") {
		t.Error(body)
	}
	s.h.hub.mu.Lock()
	s.h.hub.answers[0] = namespaceNow{Name: "jobs", DeadUnknown: true} // as before the first count
	s.h.hub.mu.Unlock()
	if d := count(); d.Dead != 0 || !d.DeadUnknown {
		t.Errorf("never counted: %+v", d)
	}
}
